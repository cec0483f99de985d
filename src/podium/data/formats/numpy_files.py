"""NumPy arrays in files."""

from __future__ import annotations

import io
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


def parse_array(content: bytes) -> NDArray[np.generic] | None:
    """The array of a .npy file that an agent's program wrote, None if it is something else.

    Nothing is unpickled, and nothing is allocated on the word of a header.
    """
    file = io.BytesIO(content)
    try:
        if np.lib.format.read_magic(file) != (1, 0):
            return None
        shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(file)
        return np.frombuffer(content, dtype, offset=file.tell()).reshape(shape, order="F" if is_fortran else "C")
    except (ValueError, TypeError, LookupError, MemoryError, RecursionError):
        return None
