"""Object stores through fsspec, such as s3://BUCKET/PREFIX."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

from podium.cluster.storage.object_store import StorageError
from podium.errors import MissingExtraError, UsageError

PATIENCE_S = 120.0
"""Maximum time during which failing requests are retried."""
_MAX_PAUSE_S = 5.0
_ANSWERS = (FileNotFoundError, FileExistsError, PermissionError, NotADirectoryError, IsADirectoryError)
"""Errors that are answers of a working store; all others may be transient and are retried."""
Result = TypeVar("Result")
logger = logging.getLogger(__name__)


class ObjectStorage:
    """An object store with conditional creation, such as S3 with If-None-Match."""

    is_folder = False

    def __init__(self, url: str) -> None:
        """
        Raises:
            UsageError: fsspec does not support the URL.
            MissingExtraError: the required package is not installed.
        """
        try:
            import fsspec
        except ImportError as error:
            raise MissingExtraError("An object store", "cluster") from error
        try:
            # Without caches, because other nodes write at the same time.
            self._store: Any
            self._store, self._root = fsspec.core.url_to_fs(
                url, skip_instance_cache=True, **({"use_listings_cache": False} if url.startswith("s3") else {})
            )
        except (ImportError, ValueError) as error:
            raise UsageError(f"--storage {url}: {error}") from error
        self.url = url

    def create(self, name: str, data: bytes) -> bool:
        path = self._path(name)

        def attempt() -> bool:
            try:
                self._store.pipe_file(path, data, mode="create")
            except FileExistsError:
                # An earlier attempt may have succeeded although its response was lost.
                return bool(self._store.cat_file(path) == data)
            return True

        return self._patiently(attempt, name)

    def read(self, name: str) -> bytes | None:
        try:
            return self._patiently(lambda: cast("bytes", self._store.cat_file(self._path(name))), name)
        except FileNotFoundError:
            return None

    def upload(self, name: str, path: Path) -> None:
        self._patiently(lambda: self._store.put_file(str(path), self._path(name)), name)

    def download(self, name: str, path: Path) -> None:
        self._patiently(lambda: self._store.get_file(self._path(name), str(path)), name)

    def names(self, prefix: str) -> list[str]:
        try:
            found = self._patiently(lambda: self._store.find(self._path(prefix)), prefix)
        except FileNotFoundError:
            return []
        return sorted(path[len(self._root) + 1 :] for path in found)

    def remove(self, name: str) -> None:
        try:
            self._patiently(lambda: self._store.rm_file(self._path(name)), name)
        except FileNotFoundError:
            return

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}".rstrip("/")

    def _patiently(self, call: Callable[[], Result], name: str) -> Result:
        """Call a function, retrying while the store does not respond."""
        deadline, pause_s = time.monotonic() + PATIENCE_S, 0.2
        while True:
            try:
                return call()
            except _ANSWERS:
                raise
            except Exception as error:  # each store has its own exception types
                if time.monotonic() > deadline or "Credential" in type(error).__name__:
                    raise StorageError(f"{self.url} does not respond ({name}): {error}") from error
                logger.warning("%s does not respond; retrying: %s", self.url, error)
            time.sleep(pause_s * random.uniform(0.5, 1.5))
            pause_s = min(2 * pause_s, _MAX_PAUSE_S)
