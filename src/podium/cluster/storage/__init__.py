"""Where a cluster keeps runs and data, so that any node can go on where another one stopped."""

from podium.cluster.storage.object_store import Storage, StorageError
from podium.cluster.storage.storage_urls import open_storage

__all__ = ["Storage", "StorageError", "open_storage"]
