"""Storage of a cluster: keeps runs and data, so that any node can continue the work of another."""

from podium.cluster.storage.object_store import Storage, StorageError
from podium.cluster.storage.storage_urls import open_storage

__all__ = ["Storage", "StorageError", "open_storage"]
