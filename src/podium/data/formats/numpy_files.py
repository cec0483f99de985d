"""NumPy `.npy` files."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from podium.safefs.atomic_files import missing_raw_file


def read_array(path: Path) -> NDArray[np.generic]:
    """Return the memory-mapped array of a .npy file; a missing file raises RawDataError."""
    try:
        array: NDArray[np.generic] = np.load(path, mmap_mode="r")
    except FileNotFoundError as error:
        raise missing_raw_file(path) from error
    return array


def write_array(array: ArrayLike, path: Path) -> None:
    """Write an array as a .npy file, creating its folder first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    np.save(path, array)


def parse_array(content: bytes) -> NDArray[np.generic] | None:
    """Parse an untrusted .npy file written by an agent's program; return None if it is not valid.

    Nothing is unpickled, and no memory is allocated based on the header alone.
    """
    file = io.BytesIO(content)
    try:
        if np.lib.format.read_magic(file) != (1, 0):
            return None
        shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(file)
        return np.frombuffer(content, dtype, offset=file.tell()).reshape(shape, order="F" if is_fortran else "C")
    except (ValueError, TypeError, LookupError, MemoryError, RecursionError):
        return None
