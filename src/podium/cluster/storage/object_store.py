"""Storage interface: named objects with slashes in their names, written and read as a whole."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from podium.errors import PodiumError


class StorageError(PodiumError, OSError):
    """Storage does not respond or refuses a request."""


class Storage(Protocol):
    """Named objects. Readers never see a partial object."""

    url: str
    """URL that opens the same storage on another node."""
    is_folder: bool
    """True if its files can be linked instead of copied."""

    def create(self, name: str, data: bytes) -> bool:
        """Store a new object; return False, changing nothing, if the name is taken."""
        ...

    def read(self, name: str) -> bytes | None:
        """Return the content of an object, or None if it does not exist."""
        ...

    def upload(self, name: str, path: Path) -> None:
        """Store a file that no longer changes, replacing an older object."""
        ...

    def download(self, name: str, path: Path) -> None:
        """Write an object to a path that does not exist yet.

        Raises:
            FileNotFoundError: the object does not exist.
        """
        ...

    def names(self, prefix: str) -> list[str]:
        """Return the sorted names below a prefix that ends with a slash."""
        ...

    def remove(self, name: str) -> None:
        """Remove an object if it exists."""
        ...
