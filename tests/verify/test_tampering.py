"""Verifying: an honest experiment passes, and every way of tampering with it is found."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from few import few
from tampering_kinds import KINDS, MINIATURE, TASK, edit, run

from podium.cli import main
from podium.runs.run_folder import RunFolder
from podium.verify import Verification, verify
from podium.workspace.journal.events import Resume


@pytest.fixture
def copy(finished: Path, tmp_path: Path) -> Path:
    return shutil.copytree(finished, tmp_path / "experiment")


def told(found: Verification) -> str:
    return "\n".join([*found.problems, *(problem for each in found.runs for problem in each.problems)])


def test_an_honest_experiment_passes(finished: Path, data_dir: Path) -> None:
    found = verify(finished, data_dir=data_dir, rehash=True)
    assert told(found) == ""
    assert found.passed
    assert found.summary == "Verified 2 of 2 runs."
    assert [each.result for each in found.runs] == ["gold medal, score 1.0"] * 2


def test_there_are_many_ways_to_tamper() -> None:
    assert len(KINDS) >= 60


@pytest.mark.parametrize("name", few(KINDS, every=2))
def test_tampering_is_found(copy: Path, data_dir: Path, name: str) -> None:
    tamper, said = KINDS[name]
    tamper(copy)
    try:
        found = verify(copy, data_dir=data_dir)
    except OSError as refused:  # experiment.json itself
        assert said in str(refused)
        return
    assert not found.passed
    assert said in told(found)


def test_resume_after_the_end_is_detected(copy: Path, data_dir: Path) -> None:
    with RunFolder(run(copy)).open_journal() as journal:
        start, last = journal.start, journal.last
        facts = {"backend": start.backend, "sandbox": start.sandbox, "versions": start.versions}
        journal.append(Resume(time=last.time, usage=last.usage, **facts))
        journal.append(last)
        edit(run(copy) / "run.json", journal_head=journal.head)
    assert "order: the journal continues after its end" in told(verify(copy, data_dir=data_dir))


def test_truncated_journal_is_detected_by_the_history(copy: Path, data_dir: Path) -> None:
    folder = RunFolder(run(copy))
    lines = folder.journal.read_bytes().splitlines(keepends=True)
    folder.journal.write_bytes(b"".join(lines[:2]))
    journal = folder.read_journal()
    usage = journal.last.usage.model_dump(mode="json")
    changes = {"status": "failed", "ended_by": None, "error": "it failed", "times__ended": journal.last.time}
    edit(folder.record, journal_head=journal.head, usage=usage, **changes)
    assert "snapshots: the history ends with" in told(verify(copy, data_dir=data_dir))


def test_invalid_task_id_is_reported(copy: Path, data_dir: Path) -> None:
    edit(run(copy) / "run.json", task="obfuscated-" * 2000)
    found = verify(copy, data_dir=data_dir)
    assert "journal: the task id is invalid" in told(found)
    assert found.runs[1].passed


def test_unforeseen_error_is_a_finding(copy: Path, data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RecursionError("too deep")

    monkeypatch.setattr("podium.verify.check_identity.load", fail)
    found = verify(copy, data_dir=data_dir)
    assert "plan: cannot be checked: RecursionError: too deep" in told(found)
    monkeypatch.setattr("podium.verify.check_run.read_evidence", fail)
    assert "journal: cannot be checked: RecursionError: too deep" in told(verify(copy, data_dir=data_dir))


def test_remarks_come_first(copy: Path, data_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.rmtree(run(copy, 1))
    with pytest.raises(SystemExit, match="1"):
        main(["verify", str(copy), "--data-dir", str(data_dir)])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("! 1 of 2 planned runs missing")
    assert "fabricated miniature" in lines[1]
    assert [line for line in lines if line.startswith(f"{TASK}/0: gold medal, score 1.0: verified")]
    assert lines[-2].startswith("Verified 1 of 1 run")
    assert "does not prove" in lines[-1]


def test_data_of_the_experiment_is_not_used(copy: Path, data_dir: Path, tmp_path: Path) -> None:
    edit(copy / "experiment.json", plan__data_dir=str(data_dir))
    found = verify(copy, data_dir=tmp_path / "empty")
    assert "grade: cannot be checked here: The miniature of spaceship-titanic is not prepared" in told(found)


def test_different_local_data_is_detected_by_its_hash(finished: Path, data_dir: Path, tmp_path: Path) -> None:
    mine = shutil.copytree(data_dir, tmp_path / "mine", symlinks=True)
    manifest = mine / MINIATURE / "manifest.json"
    document = json.loads(manifest.read_text())
    answers = mine / MINIATURE / "private" / "test.csv"
    answers.write_text(answers.read_text().replace("True", "Txue"))
    assert "changed after preparation, such as private/test.csv" in told(verify(finished, data_dir=mine, rehash=True))
    document["files"]["private/test.csv"]["sha256"] = "0" * 64
    manifest.write_text(json.dumps(document))
    assert "the run used other data" in told(verify(finished, data_dir=mine))
