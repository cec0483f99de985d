"""The seam to whatever keeps objects: names with slashes, and whole contents that are there or are not."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from podium.errors import PodiumError


class StorageError(PodiumError, OSError):
    """Storage does not answer, or refuses."""


class Storage(Protocol):
    """Objects by name. No reader ever sees a part of one."""

    url: str
    """Opens the same storage on another node."""
    is_folder: bool
    """Whether files of it can be linked instead of copied."""

    def create(self, name: str, data: bytes) -> bool:
        """Stores a new object; False if there is one of that name, which then stays as it is."""
        ...

    def read(self, name: str) -> bytes | None:
        """The content of an object; None if there is none."""
        ...

    def upload(self, name: str, path: Path) -> None:
        """Stores a file that does not change any more, also in place of an older object."""
        ...

    def download(self, name: str, path: Path) -> None:
        """Writes an object to a path at which nothing is.

        Raises:
            FileNotFoundError: there is no such object.
        """
        ...

    def names(self, prefix: str) -> list[str]:
        """The names below a prefix that ends with a slash, in order."""
        ...

    def remove(self, name: str) -> None:
        """Removes an object; what is not there is fine."""
        ...
