"""Where a cluster keeps runs and data, so that any node can go on where another one stopped."""

from podium.runs.storage.base import Storage, StorageError
from podium.runs.storage.opening import open_storage

__all__ = ["Storage", "StorageError", "open_storage"]
