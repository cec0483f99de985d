"""Storage backends: complete objects only, and one winner of concurrent creation."""

from __future__ import annotations

import os
import threading
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from s3_server import BUCKET, Relay

from podium.cluster.storage import Storage, open_storage
from podium.errors import UsageError


@pytest.fixture(params=["folder", pytest.param("s3", marks=pytest.mark.cluster)])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Storage]:
    if request.param == "folder":
        yield open_storage(str(tmp_path / "storage"))
    else:
        request.getfixturevalue("s3")
        yield open_storage(f"s3://{BUCKET}/{uuid.uuid4().hex}")


def test_an_object_is_created_once(storage: Storage) -> None:
    assert storage.create("a/b", b"first")
    assert not storage.create("a/b", b"second")
    assert storage.read("a/b") == b"first"


def test_only_one_concurrent_creator_wins(storage: Storage) -> None:
    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(lambda n: storage.create("log/7", str(n).encode()), range(16)))
    assert sum(won) == 1
    assert storage.read("log/7") == str(won.index(True)).encode()


def test_files_survive_upload_and_download(storage: Storage, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(os.urandom(100_000))
    storage.upload("x/file", source)
    storage.upload("x/file", source)
    storage.download("x/file", tmp_path / "target")
    assert (tmp_path / "target").read_bytes() == source.read_bytes()


def test_missing_objects_are_reported(storage: Storage, tmp_path: Path) -> None:
    assert storage.read("nothing") is None
    assert storage.names("nothing/") == []
    storage.remove("nothing")
    with pytest.raises(FileNotFoundError):
        storage.download("nothing", tmp_path / "target")


def test_names_are_listed_in_order(storage: Storage) -> None:
    for name in ("a/2", "a/1", "a/c/3", "b/4"):
        storage.create(name, b"")
    storage.remove("a/1")
    assert storage.names("a/") == ["a/2", "a/c/3"]


def test_unknown_kind_of_store_is_a_usage_error() -> None:
    pytest.importorskip("fsspec")
    with pytest.raises(UsageError, match="nosuch://bucket"):
        open_storage("nosuch://bucket")


@pytest.mark.cluster
def test_unresponsive_store_is_retried(s3: Relay) -> None:
    storage = open_storage(f"s3://{BUCKET}/{uuid.uuid4().hex}")
    s3.cut()
    mending = threading.Timer(1.5, s3.mend)
    mending.start()
    assert storage.create("a", b"content")
    mending.join()
    assert storage.read("a") == b"content"
