"""An object store as storage, by way of fsspec: s3://BUCKET/PREFIX and whatever else it knows."""

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
"""How long a store that does not answer is asked again."""
_LONGEST_PAUSE_S = 5.0
_ANSWERS = (FileNotFoundError, FileExistsError, PermissionError, NotADirectoryError, IsADirectoryError)
"""What a store says when it works; all else may be different a moment later."""
Result = TypeVar("Result")
logger = logging.getLogger(__name__)


class ObjectStorage:
    """Objects of a store that creates one only where there is none, as S3 does with If-None-Match."""

    is_folder = False

    def __init__(self, url: str) -> None:
        """
        Raises:
            UsageError: fsspec knows no such store.
            MissingExtraError: the package for it is not installed.
        """
        try:
            import fsspec
        except ImportError as error:
            raise MissingExtraError("An object store", "cluster") from error
        try:
            # Without caches: what another node has just written counts.
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
                # An earlier attempt may have arrived though its answer did not.
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
        """What a call gives, asked for again while the store does not answer."""
        deadline, pause_s = time.monotonic() + PATIENCE_S, 0.2
        while True:
            try:
                return call()
            except _ANSWERS:
                raise
            except Exception as error:  # every store has errors of its own
                if time.monotonic() > deadline or "Credential" in type(error).__name__:
                    raise StorageError(f"{self.url} does not answer ({name}): {error}") from error
                logger.warning("%s does not answer, asking again: %s", self.url, error)
            time.sleep(pause_s * random.uniform(0.5, 1.5))
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
