"""Submissions that are files: taken over without following links, run in sandboxes of their own, scored outside."""

from __future__ import annotations

import json
import math
import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from podium import api
from podium.catalog.registry import resolve
from podium.data.home import locate
from podium.errors import InvalidSubmission, PodiumError
from podium.grading.baseline_score import BaselineMeasurement, beyond_noise, read_baseline, write_baseline
from podium.grading.grade import Grade
from podium.grading.reference import compare_score
from podium.metrics import accuracy
from podium.runs.attempt.evaluate_programs import evaluate_in_sandboxes
from podium.runs.attempt.grade_run import SnapshotFiles
from podium.safefs.remove_tree import remove_tree
from podium.task import Baseline, Evaluation, Files, Measured, Starter, Task, research_task
from podium.workspace.history.history import History

DOUBLE = """
import json
numbers = json.load(open("numbers.json"))
json.dump([2 * number for number in numbers], open("doubled.json", "w"))
"""


@pytest.fixture
def task(tmp_path: Path) -> Task:
    """Double hidden numbers: the submission is a program, the score the share that is right."""
    starter = tmp_path / "starter"
    starter.mkdir()
    (starter / "double.py").write_text("raise SystemExit('write me')\n")
    form = Files(names=("double.py", "weights/"), max_bytes=10_000)
    task = research_task(
        "doubling",
        title="Doubling",
        kind="code",
        metric=accuracy,
        submission=form,
        starter=Starter(starter, "double.py"),
        first="fixed",
    )

    @task.prepare
    def prepare(raw: Path, public: Path, private: Path) -> None:
        (public / "hint.txt").write_text("times two")
        (private / "numbers.json").write_text("[1, 2, 3, 4]")

    @task.fabricate
    def fabricate(raw: Path, rng: object) -> None:
        (raw / "empty").touch()

    @task.evaluate
    def evaluate(evaluation: Evaluation) -> float:
        numbers = evaluation.private / "numbers.json"
        files = {"double.py": evaluation.submission / "double.py", "numbers.json": numbers}
        ran = evaluation.execute(["python", "double.py"], files=files, time_s=20, data=True)
        if ran.exit_code:
            raise InvalidSubmission(f"double.py failed: {ran.output}")
        found = json.loads(ran.read("doubled.json", 1_000))
        return sum(a == 2 * b for a, b in zip(found, json.loads(numbers.read_text()), strict=True)) / 4

    api.prepare(task, data_dir=tmp_path / "data", miniature=True)
    return task


def submit(tmp_path: Path, program: str) -> Path:
    folder = tmp_path / "work"
    (folder / "weights").mkdir(parents=True)
    (folder / "double.py").write_text(program)
    (folder / "weights" / "w.bin").write_bytes(b"1")
    return folder


def grade(task: Task, tmp_path: Path, program: str) -> Grade:
    return api.grade(task, submit(tmp_path, program), data_dir=tmp_path / "data")


def fault(task: Task, folder: Path) -> str:
    return api.validate(task, folder, data_dir=folder.parent / "data").error or ""


def test_program_is_repeated_and_scored_outside(task: Task, tmp_path: Path) -> None:
    result = grade(task, tmp_path, DOUBLE)
    assert (result.valid, result.score, result.edition, result.error) == (True, 1.0, "fixed", None)


def test_it_sees_public_data_but_neither_answers_nor_the_host(task: Task, tmp_path: Path) -> None:
    program = f"""
import os
print(open("data/hint.txt").read(), os.path.exists({str(tmp_path / "data")!r}), sorted(os.listdir()))
raise SystemExit(1)
"""
    result = grade(task, tmp_path, program)
    assert result.error == "double.py failed: times two False ['data', 'double.py', 'numbers.json']"


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("import os; os.symlink('/etc/passwd', 'doubled.json')", "doubled.json cannot be read: Too many levels"),
        ("import os; os.mkfifo('doubled.json')", "doubled.json is not a plain file"),
        ("import os; os.mkdir('doubled.json')", "doubled.json is not a plain file"),
        ("open('doubled.json', 'w').write(' ' * 2000)", "doubled.json has 2,000 bytes; at most 1,000 are read"),
        ("pass", "doubled.json cannot be read: No such file"),
    ],
)
def test_hostile_output_of_a_program_is_read_safely(task: Task, tmp_path: Path, program: str, message: str) -> None:
    result = grade(task, tmp_path, program)
    assert not result.valid
    assert message in str(result.error)


def test_endless_program_is_stopped(task: Task, tmp_path: Path) -> None:
    @task.evaluate
    def evaluate(evaluation: Evaluation) -> float:
        files = {"double.py": evaluation.submission / "double.py"}
        ran = evaluation.execute(["python", "double.py"], files=files, time_s=1)
        assert ran.stopped == "time limit of 1 s"
        return 1.0 if 1 <= ran.seconds < 3600 else 0.0

    forever = "import os, time\nif os.fork() == 0: os.setsid()\ntime.sleep(3600)\n"
    assert grade(task, tmp_path, forever).score == 1.0


def test_missing_empty_and_large_files_are_named(task: Task, tmp_path: Path) -> None:
    folder = submit(tmp_path, DOUBLE)
    assert fault(task, folder) == ""
    (folder / "weights" / "w.bin").write_bytes(b"1" * 20_000)
    assert "w.bin has 20,000 bytes; at most" in fault(task, folder)
    (folder / "weights" / "w.bin").unlink()
    assert fault(task, folder) == "The folder weights/ is missing or empty in the workspace."
    (folder / "double.py").write_bytes(b"")
    assert api.grade(task, folder, data_dir=tmp_path / "data").error == (
        "The file double.py is missing or empty in the workspace."
    )
    assert "is not a folder; doubling expects a folder with: double.py, weights/" in fault(task, tmp_path / "nowhere")


def test_links_pipes_and_sockets_are_not_copied(task: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = submit(tmp_path, DOUBLE)
    secret = folder / "weights" / "secret"
    secret.symlink_to("/etc/passwd")
    assert "secret cannot be read" in fault(task, folder)
    secret.unlink()
    os.mkfifo(secret)
    assert "secret is not a plain file" in fault(task, folder)
    secret.unlink()
    with socket.socket(socket.AF_UNIX) as listener:
        monkeypatch.chdir(secret.parent)  # paths of sockets are short
        listener.bind(secret.name)
        assert fault(task, folder)


@pytest.fixture
def nested(tmp_path: Path) -> Iterator[Path]:
    """A submission with more folders inside each other than paths and recursion can go."""
    folder = submit(tmp_path, DOUBLE)
    inside = os.open(folder / "weights", os.O_RDONLY)
    for _ in range(3_000):
        os.mkdir("d", dir_fd=inside)
        above, inside = inside, os.open("d", os.O_RDONLY, dir_fd=inside)
        os.close(above)
    os.close(os.open("w.bin", os.O_CREAT, dir_fd=inside))
    os.close(inside)
    yield folder
    remove_tree(folder)  # pytest itself would fail to


def test_folders_nested_beyond_reason_are_a_fault_of_the_submission(task: Task, tmp_path: Path, nested: Path) -> None:
    assert fault(task, nested).endswith("is nested more than 100 folders deep.")
    prepared = resolve(task, data_dir=tmp_path / "data")
    with History(tmp_path / "history.git", nested, always=prepared.names) as history:
        commit = history.snapshot("end", None, time_s=0)
        result = prepared.grade_workspace(SnapshotFiles(history, commit), tmp_path / "taken", evaluate_in_sandboxes())
    assert not result.valid
    assert "deep" in str(result.error)


def test_a_path_too_long_to_be_named_is_a_fault_of_the_submission(task: Task, tmp_path: Path) -> None:
    folder = submit(tmp_path, DOUBLE)
    inside = os.open(folder / "weights", os.O_RDONLY)
    for _ in range(20):
        os.mkdir("d" * 250, dir_fd=inside)
        above, inside = inside, os.open("d" * 250, os.O_RDONLY, dir_fd=inside)
        os.close(above)
    os.close(os.open("w.bin", os.O_CREAT, dir_fd=inside))
    os.close(inside)
    assert fault(task, folder).startswith("weights/ddd")
    prepared = resolve(task, data_dir=tmp_path / "data")
    with History(tmp_path / "history.git", folder, always=prepared.names) as history:
        commit = history.snapshot("end", None, time_s=0)
        result = prepared.grade_workspace(SnapshotFiles(history, commit), tmp_path / "taken", evaluate_in_sandboxes())
    assert str(result.error).endswith("d… cannot be evaluated: its path is too long.")


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read every folder")
def test_a_locked_folder_is_a_fault_of_the_submission(task: Task, tmp_path: Path) -> None:
    folder = submit(tmp_path, DOUBLE)
    (folder / "weights" / "locked").mkdir(mode=0)
    assert fault(task, folder) == "weights/locked cannot be read: Permission denied."


def test_deeply_nested_folders_of_a_program_are_removed(
    task: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    nest = "import os\nfor _ in range(3_000):\n    os.mkdir('d')\n    os.chdir('d')\n"
    grade(task, tmp_path, DOUBLE + nest)  # valid, unless the sandbox stops it first for what it cannot measure
    assert list((tmp_path / "scratch").glob("podium-evaluation-*")) == []


def test_snapshot_files_are_listed_only_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work" / "deep").mkdir(parents=True)
    for name in ("a", "deep/b"):
        (tmp_path / "work" / name).write_text(name)
    with History(tmp_path / "history.git", tmp_path / "work") as history:
        files = SnapshotFiles(history, history.snapshot("end", None, time_s=0))
        names = files.names()
        monkeypatch.delattr("podium.workspace.history.extract_file.find_entry")
        assert [files.take(name, tmp_path / "taken" / name, 100).is_file for name in names] == [True, True]
    assert (tmp_path / "taken" / "deep" / "b").read_text() == "deep/b"


def test_snapshots_give_the_same_files(task: Task, tmp_path: Path) -> None:
    folder = submit(tmp_path, DOUBLE)
    (folder / "notes.txt").write_text("not submitted")
    prepared = resolve(task, data_dir=tmp_path / "data")
    taken = tmp_path / "taken"
    with History(tmp_path / "history.git", folder, always=prepared.names) as history:
        commit = history.snapshot("end", None, time_s=0)
        result = prepared.grade_workspace(SnapshotFiles(history, commit), taken, evaluate_in_sandboxes())
        assert (result.score, result.miniature) == (1.0, True)
        assert sorted(path.name for path in taken.rglob("*") if path.is_file()) == ["double.py", "w.bin"]
        (folder / "weights" / "link").symlink_to("../../../etc/passwd")
        linked = history.snapshot("linked", commit, time_s=0)
        result = prepared.grade_workspace(SnapshotFiles(history, linked), tmp_path / "again", evaluate_in_sandboxes())
        assert "weights/link cannot be evaluated: its path contains a symbolic link" in str(result.error)


def test_scores_are_compared_with_the_measured_baseline(task: Task, tmp_path: Path) -> None:
    place = locate("doubling", edition="fixed", data_dir=tmp_path / "data", miniature=True)
    measured = BaselineMeasurement("doubling", "fixed", True, (0.4, 0.5, 0.6), 0, {}, {}, "2026-01-01T00:00:00")
    write_baseline(place, measured)
    result = grade(task, tmp_path, DOUBLE)
    assert (result.improvement, result.success, result.beyond_noise) == (pytest.approx(100.0), True, True)
    place.manifest.write_text(place.manifest.read_text() + "\n")  # other data: the measurement no longer holds
    assert read_baseline(place) is None
    with pytest.raises(PodiumError, match="None of 3 runs"):
        write_baseline(place, BaselineMeasurement("doubling", "fixed", True, (), 3, {}, {}, ""))


def test_noise_is_what_one_more_run_of_the_baseline_would_show() -> None:
    # Mean 0.5, SD 0.1, n 3: t(0.975, 2) = 4.302653, so the bound is 4.302653 * 0.1 * sqrt(4 / 3) = 0.496828.
    baseline = Baseline(0.5, sd=0.1, runs=3)
    assert beyond_noise(Measured(0.5 + 0.4969), baseline, higher_is_better=True) is True
    assert beyond_noise(Measured(0.5 + 0.4968), baseline, higher_is_better=True) is False
    assert beyond_noise(Measured(0.5 - 0.4969), baseline, higher_is_better=False) is True
    assert beyond_noise(Measured(math.inf), Baseline(0.5), higher_is_better=True) is None


def test_a_score_with_an_interval_is_beyond_noise_where_all_of_it_is_better() -> None:
    baseline = Baseline(1.0, by_definition=True)
    assert beyond_noise(Measured(1.3, (1.01, 1.6)), baseline, higher_is_better=True) is True
    assert beyond_noise(Measured(1.3, (0.99, 1.6)), baseline, higher_is_better=True) is False
    assert beyond_noise(Measured(0.7, (0.6, 0.9)), baseline, higher_is_better=False) is True


def test_improvement_within_noise_is_not_a_success() -> None:
    found = compare_score(Measured(1.3, (0.99, 1.6)), Baseline(1.0, by_definition=True), higher_is_better=True)
    assert found == {"improvement": pytest.approx(30.0), "success": False, "beyond_noise": False}
