"""NumPy arrays in files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from podium.errors import RawDataError


def read_array(path: Path) -> NDArray[np.generic]:
    """The array of a .npy file, left on disk until it is used; a missing file is explained."""
    try:
        array: NDArray[np.generic] = np.load(path, mmap_mode="r")
    except FileNotFoundError as error:
        raise RawDataError(f"The raw data lacks {path.name}: there is no {path}.") from error
    return array


def write_array(array: ArrayLike, path: Path) -> None:
    """Writes an array as a .npy file, making its folder first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    np.save(path, array)
