"""Data on nodes: unpacked once, checked, bounded; answers only when asked for."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from running import TASK

from podium.catalog.registry import resolve
from podium.cluster.data_cache import NodeCache, publish_data
from podium.cluster.storage import Storage, open_storage
from podium.errors import PodiumError
from podium.grading.prepared_task import PreparedTask


@pytest.fixture
def prepared(data_dir: Path) -> PreparedTask:
    return resolve(TASK, data_dir=data_dir, miniature=True)


@pytest.fixture
def storage(tmp_path: Path) -> Storage:
    return open_storage(str(tmp_path / "storage"))


def test_data_arrives_as_it_was_prepared(prepared: PreparedTask, storage: Storage, tmp_path: Path) -> None:
    key = publish_data(prepared, storage)
    assert publish_data(prepared, storage) == key
    cache = NodeCache(tmp_path / "node", storage)
    with cache.using(key) as home:
        there = resolve(TASK, data_dir=home / "data", miniature=True)
        assert there.data_sha256 == prepared.data_sha256
        sample = there.place.public / "sample_submission.csv"
        assert there.validate(sample).valid
        assert not there.place.private.exists(), "answers lie where nothing is graded"
        cache.fetch(key, "private")
        assert stat.S_IMODE(there.place.private.stat().st_mode) == 0o700
        assert there.grade(sample) == prepared.grade(sample)
    assert not there.place.public.resolve().is_relative_to(there.place.root), "the task's name is in a mount's"
    times = {path.stat().st_mtime for path in there.place.public.rglob("*")}
    assert len(times) == 1


def test_cache_removes_the_least_recently_used_data(prepared: PreparedTask, storage: Storage, tmp_path: Path) -> None:
    first = publish_data(prepared, storage)
    size = len(storage.read(f"data/{first}/public.tar") or b"")
    second = "0" * 32
    storage.create(f"data/{second}/public.tar", storage.read(f"data/{first}/public.tar") or b"")
    cache = NodeCache(tmp_path / "node", storage, limit_bytes=size + size // 2)
    with cache.using(first), pytest.raises(PodiumError, match="all of it is in use"), cache.using(second):
        pass
    with cache.using(second):
        assert not (cache.folder / first).exists()
    with cache.using(first) as home:
        assert (home / "data").is_dir()


def test_altered_data_is_refused(prepared: PreparedTask, storage: Storage, tmp_path: Path) -> None:
    key = publish_data(prepared, storage)
    data = bytearray(storage.read(f"data/{key}/public.tar") or b"")
    place = data.find(b"PassengerId,")
    data[place : place + 3] = b"XXX"
    (tmp_path / "altered").write_bytes(data)
    storage.upload(f"data/{key}/public.tar", tmp_path / "altered")
    cache = NodeCache(tmp_path / "node", storage)
    with pytest.raises(PodiumError, match="does not match its checksum"), cache.using(key):
        pass
