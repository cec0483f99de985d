"""The index: quick because it remembers, right because it can be lost."""

from __future__ import annotations

import json
import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from viewed import TASK, make_experiment, make_record, start, step

from podium.report import results
from podium.report.results import RunKey
from podium.runs.attempt.progress_files import has_running_attempt
from podium.runs.experiment import Experiment
from podium.viewer.index import experiment_index as index_module
from podium.viewer.index.experiment_index import ExperimentIndex, StoredVerification
from podium.viewer.index.run_progress import current
from podium.workspace.journal.journal import Journal

Open = Callable[[], ExperimentIndex]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    plan = make_experiment(folder / "first", seeds=3)
    for seed in range(3):
        make_record(folder / "first", plan, seed=seed)
    return folder


@pytest.fixture
def opened(root: Path, tmp_path: Path) -> Iterator[Open]:
    """Opens the index as a new viewer does."""
    made: list[ExperimentIndex] = []

    def open_() -> ExperimentIndex:
        made.append(ExperimentIndex(root, tmp_path / "cache" / "index.sqlite"))
        made[-1].refresh()
        return made[-1]

    yield open_
    for each in made:
        each.close()


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """The runs whose records are read from now on."""
    seen: list[tuple[str, int]] = []

    def read_row(experiment: Experiment, name: str, task: str, seed: int) -> results.Row:
        seen.append((name, seed))
        return results.read_row(experiment, name, task, seed)

    monkeypatch.setattr(index_module, "read_row", read_row)
    return seen


def test_unchanged_files_are_not_read_again(opened: Open, read: list[tuple[str, int]]) -> None:
    opened()
    assert len(read) == 3
    again = opened()
    again.refresh(now=True)
    assert len(read) == 3
    assert [row.medal for row in again.rows("first")[0]] == ["bronze"] * 3


def test_only_changed_files_are_read(root: Path, opened: Open, read: list[tuple[str, int]]) -> None:
    index = opened()
    read.clear()
    generation = index.generation
    plan = make_experiment(root / "second", created="2027-01-01T00:00:00+00:00")
    make_record(root / "second", plan, medal="gold")
    make_record(root / "first", plan, seed=1, medal=None)
    assert index.refresh(now=True) > generation
    assert sorted(read) == [("first", 1), ("second", 0)]
    assert [status.name for status in index.experiments()] == ["second", "first"]
    assert index.experiments()[0].count("gold") == 1 and index.experiments()[1].count("bronze") == 2
    assert index.refresh(now=True) == index.generation


def test_runs_come_and_go(root: Path, opened: Open) -> None:
    index = opened()
    (root / "first" / TASK / "2" / "run.json").unlink()
    index.refresh(now=True)
    assert [row.status for row in index.rows("first")[0]] == ["finished", "finished", "missing"]
    make_experiment(root / "first", seeds=5)
    index.refresh(now=True)
    assert index.experiments()[0].runs == 5 and index.experiments()[0].count("missing") == 3
    shutil.rmtree(root / "first")
    index.refresh(now=True)
    assert index.experiments() == [] and index.rows("first") == ([], 0)


@pytest.mark.parametrize("damage", ["lost", "garbage", "cut", "other version", "no table"])
def test_a_lost_or_damaged_index_is_rebuilt(opened: Open, tmp_path: Path, damage: str) -> None:
    file = tmp_path / "cache" / "index.sqlite"
    before = opened()
    rows = before.rows("first")[0]
    before.close()
    match damage:
        case "lost":
            file.unlink()
        case "garbage":
            file.write_bytes(b"not a database" * 1000)
        case "cut":
            file.write_bytes(file.read_bytes()[:5000])
        case "other version":
            _alter(file, "PRAGMA user_version = 99")
        case "no table":
            _alter(file, "DROP TABLE runs")
    assert opened().rows("first")[0] == rows


def test_damage_while_it_is_open_is_repaired(opened: Open, tmp_path: Path) -> None:
    index = opened()
    rows = index.rows("first")[0]
    _alter(tmp_path / "cache" / "index.sqlite", "DROP TABLE runs")
    index.rows("first")  # finds out
    index.refresh(now=True)
    assert index.rows("first")[0] == rows


def test_a_question_after_the_end_harms_nothing(opened: Open, read: list[tuple[str, int]]) -> None:
    index = opened()
    index.close()
    assert index.rows("first") == ([], 0)
    index.put_verification(RunKey("first", TASK, 0), "", StoredVerification("", {}))
    read.clear()
    assert len(opened().rows("first")[0]) == 3 and read == []


def _alter(file: Path, statement: str) -> None:
    connection = sqlite3.connect(file)
    connection.execute(statement)
    connection.commit()
    connection.close()


def test_several_viewers_share_it(root: Path, opened: Open) -> None:
    indexes = [opened() for _ in range(3)]
    plan = make_experiment(root / "second", seeds=50)
    for seed in range(50):
        make_record(root / "second", plan, seed=seed)
    workers = [threading.Thread(target=index.refresh, kwargs={"now": True}) for index in indexes]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [index.experiment("second").count("finished") for index in indexes] == [50] * 3  # type: ignore[union-attr]


@pytest.mark.parametrize(("name", "value"), [("tasks", ["../../etc"]), ("tasks", ["a/b"]), ("seeds", 10**12)])
def test_a_strangers_plan_leads_nowhere(root: Path, opened: Open, name: str, value: object) -> None:
    file = root / "first" / "experiment.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {name: value}))
    status = opened().experiments()[0]
    assert status.error and status.runs == 0


@pytest.mark.parametrize(
    "change",
    [
        {"score": "plenty"},
        {"usage": {"steps": 10**30}},
        {"usage": {"cost": float("inf")}},
        {"sandbox": {"mounts": [{"source": []}]}},
    ],
)
def test_a_damaged_record_is_an_unreadable_row(root: Path, opened: Open, change: dict[str, object]) -> None:
    file = root / "first" / TASK / "1" / "run.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    index = opened()
    rows = index.rows("first", sort="steps")[0]
    assert sorted(row.status for row in rows) == ["finished", "finished", "unreadable"]
    bad = index.row(RunKey("first", TASK, 1))
    assert bad is not None and "run.json is damaged" in (bad.error or "")
    assert index.experiments()[0].count("unreadable") == 1


def test_a_folder_may_be_an_experiment_itself(root: Path, tmp_path: Path) -> None:
    index = ExperimentIndex(root / "first", tmp_path / "index.sqlite")
    assert [status.name for status in index.experiments()] == ["first"]
    assert index.row(RunKey("first", TASK, 0)).folder == root / "first" / TASK / "0"  # type: ignore[union-attr]
    index.close()


@pytest.mark.parametrize(
    "name",
    [
        f"{TASK}/0/steps.jsonl",
        f"{TASK}/0/curve.json",
        f"{TASK}/0/submission.csv",
        f"{TASK}/0/submission/answers.npy",
        f"{TASK}/0/history/head",
        f"{TASK}/0/history/segments/00000009-0123456789abcdef.seg",
        "experiment.json",
    ],
)
def test_verifications_hold_until_the_run_changes(root: Path, opened: Open, name: str) -> None:
    index = opened()
    key = RunKey("first", TASK, 0)
    changed = root / "first" / name
    changed.parent.mkdir(parents=True, exist_ok=True)
    index.put_verification(key, index.stamp_of(key), StoredVerification("now", {"journal": "ok"}))
    assert index.verifications()[key].passed and index.verifications("other") == {}
    changed.write_text("{}\n{}\n")
    assert index.verifications() == {}


def test_a_run_is_going_while_its_lock_is_held(root: Path, opened: Open) -> None:
    import fcntl

    plan = make_experiment(root / "first", seeds=3)
    run = make_record(root / "first", plan, status="running")
    index = opened()
    row = index.row(RunKey("first", TASK, 0))
    assert row is not None and current(row)[1] == "interrupted"
    with run.lock.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with Journal.open(run.journal) as journal:
            journal.append(start())
            journal.append(step(2))
        with run.journal.open("ab") as file:
            file.write(b'{"unfinished')
        assert has_running_attempt(run)
        now, status = current(row)
        assert status == "running" and now.working_s == 4.0 and now.steps == 2
        with run.journal.open("ab") as file:
            file.write(b"\n")
        now, status = current(row)
        assert status == "running" and "malformed" in (now.error or "")
    assert not has_running_attempt(run)
