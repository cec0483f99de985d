"""Storage URLs: opens a storage given as a folder or as the URL of an object store."""

from __future__ import annotations

from pathlib import Path

from podium.cluster.storage.object_store import Storage
from podium.cluster.storage.shared_folder import FolderStorage


def open_storage(url: str) -> Storage:
    """Open the storage at a path or URL.

    Raises:
        UsageError: the kind of storage is not supported.
        MissingExtraError: a required package is not installed.
    """
    if "://" not in url:
        return FolderStorage(Path(url).absolute())
    from podium.cluster.storage.s3 import ObjectStorage

    return ObjectStorage(url)
