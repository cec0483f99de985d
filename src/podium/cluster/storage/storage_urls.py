"""Opens a storage by what the user writes: a folder, or the URL of an object store."""

from __future__ import annotations

from pathlib import Path

from podium.cluster.storage.object_store import Storage
from podium.cluster.storage.shared_folder import FolderStorage


def open_storage(url: str) -> Storage:
    """The storage at a path or URL.

    Raises:
        UsageError: no such kind of storage can be used.
        MissingExtraError: its packages are not installed.
    """
    if "://" not in url:
        return FolderStorage(Path(url).absolute())
    from podium.cluster.storage.s3 import ObjectStorage

    return ObjectStorage(url)
