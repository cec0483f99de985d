"""Log of a run: one owner at a time, and a folder that follows it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from driving import story, verified
from running import TASK

from podium.cluster.mirror import Mirror
from podium.cluster.storage import Storage, open_storage
from podium.cluster.stored_log import LostRunError, RunLog
from podium.errors import RecordError
from podium.runs.experiment import make_experiment, read_experiment, run_folder
from podium.runs.run_folder import RunFolder

STEP = '{"n": 1, "kind": "step"}\n'


@pytest.fixture
def storage(tmp_path: Path) -> Storage:
    return open_storage(str(tmp_path / "storage"))


def owned(storage: Storage, owner: str) -> RunLog:
    log = RunLog(storage, "run/", owner)
    list(log.read_new())
    log.take()
    return log


def test_replaced_owner_cannot_write(storage: Storage) -> None:
    first = owned(storage, "first")
    first.append("grown", journal=STEP)
    second = owned(storage, "second")
    with pytest.raises(LostRunError, match="taken over by second"):
        first.append("grown", journal=STEP)
    with pytest.raises(LostRunError):
        first.append("left", documents={"run.json": "finished"})
    second.append("grown", journal=STEP)
    assert [entry.owner for entry in RunLog(storage, "run/").read_new()] == ["first", "first", "second", "second"]


def test_taking_a_run_requires_reading_its_complete_log(storage: Storage) -> None:
    first = owned(storage, "first")
    second = RunLog(storage, "run/", "second")
    list(second.read_new())
    first.append("grown", journal=STEP)
    with pytest.raises(LostRunError):
        second.take()
    list(second.read_new())
    second.take()
    assert second.generation == 2


def test_consecutive_deaths_are_counted_until_a_step(storage: Storage) -> None:
    log = owned(storage, "first")
    for reason in ("one", "two"):
        log.take("died", reason=reason)
    assert log.deaths == ("one", "two")
    log.append("grown", journal=STEP)
    assert log.deaths == ()


def test_damaged_entry_is_reported(storage: Storage) -> None:
    storage.create("run/log/00000000", b"{}")
    with pytest.raises(RecordError, match="not a valid log entry"):
        list(RunLog(storage, "run/").read_new())


def empty_copy(finished: Path, folder: Path) -> RunFolder:
    experiment = make_experiment(folder, read_experiment(finished).document)
    run = experiment.run(TASK, 0)
    run.make()
    return run


def mirrored(run: RunFolder, storage: Storage) -> Mirror:
    return Mirror(run, RunLog(storage, "run/"))


@pytest.fixture
def source(finished: Path, tmp_path: Path) -> RunFolder:
    shutil.copytree(finished, tmp_path / "source", symlinks=True)
    return run_folder(tmp_path / "source", TASK, 0)


def test_run_survives_a_round_trip_through_storage(
    source: RunFolder, finished: Path, storage: Storage, tmp_path: Path
) -> None:
    mirror = mirrored(source, storage)
    mirror.take(blobs=True)
    assert mirror.push("left")
    target = empty_copy(finished, tmp_path / "target")
    assert mirrored(target, storage).pull(blobs=True, products=True)
    assert target.journal.read_bytes() == source.journal.read_bytes()
    assert target.read_record() == source.read_record()
    assert story(target) == story(source)
    assert verified(target).problems == verified(source).problems == []
    assert not list(target.path.rglob("tmp_*"))


@pytest.mark.parametrize("blobs", [False, True])
def test_copy_shows_the_end_only_with_all_files(
    source: RunFolder, finished: Path, storage: Storage, tmp_path: Path, blobs: bool
) -> None:
    """A driver that is killed in between asks again for a run that has not ended, and never for one that has."""
    mirror = mirrored(source, storage)
    mirror.take(blobs=True)
    mirror.push("left")
    target = empty_copy(finished, tmp_path / "target")
    copy = Mirror(target, RunLog(storage, "run/"), is_copy=True)
    copy.pull(blobs=blobs)
    assert target.read_record() is None
    copy.pull(blobs=True, products=True)
    assert target.read_record() == source.read_record()
    assert verified(target).problems == []


def test_record_is_stored_together_with_its_submission(
    source: RunFolder, finished: Path, storage: Storage, tmp_path: Path
) -> None:
    """A node that dies before it has stored the submission leaves a run that another one ends."""
    mirror = mirrored(source, storage)
    mirror.take(blobs=True)
    mirror.push()
    early = empty_copy(finished, tmp_path / "early")
    mirrored(early, storage).pull(blobs=True, products=True)
    assert early.read_record() is None and early.journal.read_bytes() == source.journal.read_bytes()
    mirror.push("left")
    target = empty_copy(finished, tmp_path / "target")
    mirrored(target, storage).pull(blobs=True, products=True)
    assert target.read_record() is not None and verified(target).problems == []


def test_storage_contains_every_snapshot_of_its_journal(
    source: RunFolder, finished: Path, storage: Storage, tmp_path: Path
) -> None:
    """The journal grows line by line; after each entry another node could go on."""
    lines = source.journal.read_bytes().splitlines(keepends=True)
    source.journal.write_bytes(b"")
    mirror = mirrored(source, storage)
    mirror.take(blobs=True)
    for number, line in enumerate(lines):
        with source.journal.open("ab") as file:
            file.write(line)
        mirror.push()
        target = empty_copy(finished, tmp_path / f"target{number}")
        mirrored(target, storage).pull(blobs=True)
        with target.read_history() as history:
            assert history.check(target.read_journal().snapshot) == []


def test_a_torn_line_is_not_stored(source: RunFolder, storage: Storage) -> None:
    whole = source.journal.read_bytes()
    source.journal.write_bytes(whole + b'{"n": ')
    mirror = mirrored(source, storage)
    mirror.take(blobs=True)
    mirror.push()
    stored = "".join(entry.journal for entry in RunLog(storage, "run/").read_new())
    assert stored.encode() == whole


def test_a_packed_history_replaces_the_loose_one(
    source: RunFolder, finished: Path, storage: Storage, tmp_path: Path
) -> None:
    follower = mirrored(empty_copy(finished, tmp_path / "target"), storage)
    mirror = mirrored(source, storage)
    mirror.take(blobs=True)
    mirror.push()
    follower.pull(blobs=True)
    with source.open_history() as history:
        history.put(os.urandom(100))
        mirror.push("grown")
        history.compact()
    mirror.push("left")
    follower.pull(blobs=True)
    assert files_of(follower.folder.history / "segments") == files_of(source.history / "segments")
    assert len(storage.names("run/history/segments/")) == len(files_of(source.history / "segments"))


def files_of(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_diverged_folder_is_not_overwritten(
    source: RunFolder, finished: Path, storage: Storage, tmp_path: Path
) -> None:
    mirror = mirrored(source, storage)
    mirror.take(blobs=True)
    mirror.push()
    target = empty_copy(finished, tmp_path / "target")
    target.journal.write_bytes(b'{"n": 1, "another": "story"}\n')
    with pytest.raises(RecordError, match="continued on this machine"):
        mirrored(target, storage).pull(blobs=False)
    assert target.journal.read_bytes() == b'{"n": 1, "another": "story"}\n'
