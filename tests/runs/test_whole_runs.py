"""Whole runs: an agent in the sandbox, journalled, graded and verified."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from driving import verified
from running import drive

from podium import api
from podium.catalog.forge.forged_task import QUICK
from podium.errors import UsageError
from podium.runs.attempt.open_run import shorten_names
from podium.runs.drive.driver import Driver
from podium.runs.drive.executors import make_executor
from podium.runs.experiment import read_experiment
from podium.runs.records import Plan, RunRecord, Times
from podium.runs.steps import Steps
from podium.workspace.budget import Budget
from podium.workspace.journal.journal import read_journal

WRITE = "write_file"


def submit(text: str) -> tuple[str, dict[str, Any]]:
    return (WRITE, {"file_name": "submission/submission.csv", "content": text})


def test_baseline_submits_the_sample(play: Any) -> None:
    row = play(agent="baseline")
    assert row.record.status == "finished"
    assert row.record.valid
    assert row.record.ended_by == "the agent"
    assert row.record.miniature
    assert row.folder.read_record().sandbox.pauses_background
    assert set(verified(row.folder).checks.values()) == {"ok"}


def test_a_perfect_submission_scores_one(play: Any, script: Any, perfect: str) -> None:
    row = play(script=script([submit(perfect)]))
    assert row.record.score == 1.0
    assert row.folder.submission.read_text() == perfect
    assert row.record.usage.steps == 1


def test_missing_submission_is_an_invalid_result_not_a_failure(play: Any, script: Any) -> None:
    row = play(script=script([("list_files", {"dir_path": "."})]))
    assert (row.record.status, row.record.valid) == ("finished", False)
    assert "submission/submission.csv" in row.record.error


def test_an_agent_sees_its_data_and_neither_answers_nor_the_task_id(play: Any, script: Any) -> None:
    look = "ls -R /home; cat /home/instructions.txt; env; find / -path '*/private/*.csv' 2>/dev/null"
    row = play(agent="command", command=look)
    observation = Steps(row.folder).observation(1).text
    assert "train.csv" in observation
    assert "description.md" in observation
    assert "private/" not in observation


def test_sandbox_reveals_neither_experiment_nor_forged_task(tmp_path: Path) -> None:
    look = "cat /proc/*/mountinfo /proc/*/mounts /proc/*/cmdline /proc/*/environ; env; find /home; grep -ri forge /home"
    task = next(name for name in QUICK if "graph" in name)
    plan = Plan(agent="command", options={"command": look}, data_dir=tmp_path / "data")
    api.prepare(task, data_dir=tmp_path / "data")
    row = drive(tmp_path / "telling-name", plan, task)
    observation = Steps(row.folder).observation(1).text
    assert "/home/data/description.md" in observation
    assert "telling-name" not in observation
    assert "graph" not in observation.lower().replace("graphics", "")
    assert "forge" not in observation.replace("grep -ri forge", "")


def test_validation_answers_inside_without_answers(play: Any, perfect: str) -> None:
    command = (
        "cp /home/data/sample_submission.csv /home/submission/submission.csv; "
        "/home/validate_submission.sh /home/submission/submission.csv; "
        "echo id,x > bad.csv; /home/validate_submission.sh bad.csv"
    )
    row = play(agent="command", command=command)
    observation = Steps(row.folder).observation(1).text
    assert "Submission is valid." in observation
    assert "Submission is invalid!" in observation
    assert row.record.validations == 2


def test_steps_end_when_the_budget_does(play: Any, script: Any) -> None:
    row = play(script=script([("list_files", {"dir_path": "."})] * 5), budget=Budget(steps=3))
    assert row.record.usage.steps == 3
    assert row.record.ended_by == "steps"


def test_current_submission_counts_when_time_is_up(play: Any, perfect: str) -> None:
    command = f"cat > /home/submission/submission.csv <<'END'\n{perfect}END\nsleep 60"
    row = play(agent="command", command=command, budget=Budget(time_s=4))
    assert row.record.ended_by == "working time"
    assert row.record.score == 1.0


def test_failed_run_has_a_reason_and_can_be_repeated(play: Any, tmp_path: Path, script: Any) -> None:
    row = play(script=tmp_path / "missing.json")
    assert row.record.status == "failed"
    assert "missing.json" in row.record.error
    (tmp_path / "missing.json").write_text("[]")
    assert play(script=tmp_path / "missing.json").record.status == "finished"


def test_a_finished_run_is_kept(play: Any, script: Any, perfect: str) -> None:
    path = script([submit(perfect)])
    first = play(script=path)
    again = play(script=path)
    assert again.record == first.record


def test_a_run_killed_between_its_end_and_its_record_is_only_graded(play: Any, script: Any, perfect: str) -> None:
    path = script([submit(perfect)])
    first = play(script=path)
    journal, record = first.folder.journal.read_bytes(), first.folder.read_record()
    begun = RunRecord(**record.model_dump(include={"task", "agent", "model", "seed", "edition"}), status="running")
    first.folder.write_record(begun.model_copy(update={"times": Times(started=record.times.started)}))
    again = play(script=path)
    assert first.folder.journal.read_bytes() == journal
    assert (again.record.status, again.record.score, again.record.ended_by) == ("finished", 1.0, "the agent")
    assert verified(again.folder).passed


def test_long_pending_decision_is_performed_on_resume(play: Any, script: Any, perfect: str) -> None:
    path = script([(WRITE, {"file_name": "code/long.txt", "content": "x" * (9 << 20)}), submit(perfect)])
    first = play(script=path, together=2)
    record = first.folder.read_record()
    lines = first.folder.journal.read_bytes().splitlines(keepends=True)
    first.folder.journal.write_bytes(lines[0])
    begun = RunRecord(**record.model_dump(include={"task", "agent", "model", "seed", "edition"}), status="running")
    first.folder.write_record(begun)
    again = play(script=path, together=2)
    assert (again.record.status, again.record.score) == ("finished", 1.0), again.record.error


def test_only_some_of_many_lost_files_are_named() -> None:
    names = [f"{number}{chr(0xDCFF) * 10_000}" for number in range(1000)]
    named = shorten_names(names)
    assert 1 < len(named) < 10 and list(named) == names[: len(named)]
    assert shorten_names(["a", "b"]) == ("a", "b")


def test_run_finished_by_another_command_is_kept(play: Any, script: Any, perfect: str, tmp_path: Path) -> None:
    path = script([submit(perfect)])
    play(script=path)
    experiment = read_experiment(tmp_path / "experiment")
    waiting = Driver(experiment)
    waiting.runs[0].state, waiting.runs[0].record = "queued", None  # as it was when the other command was started
    folder = waiting.runs[0].folder
    before = folder.record.read_bytes(), folder.journal.read_bytes()
    waiting.run_all(make_executor(parallel=1))
    assert (folder.record.read_bytes(), folder.journal.read_bytes()) == before
    assert waiting.runs[0].state == "finished"


def test_parallel_actions_are_all_journalled(play: Any, script: Any) -> None:
    actions = [(WRITE, {"file_name": f"code/{number}.txt", "content": str(number)}) for number in range(6)]
    row = play(script=script(actions), together=3)
    steps = Steps(row.folder).all
    assert [step.count for step in steps] == [3] * 6
    assert sorted(step.action.arguments["content"] for step in steps) == list("012345")


def test_fork_continues_from_a_step(play: Any, script: Any, perfect: str, tmp_path: Path) -> None:
    actions = [(WRITE, {"file_name": "code/one", "content": "1"}), (WRITE, {"file_name": "code/two", "content": "2"})]
    row = play(script=script([*actions, submit(perfect)]))
    folder = Steps(row.folder).fork(1, tmp_path / "fork")
    assert len(read_journal(folder / "steps.jsonl")) == 3
    forked = play(script=tmp_path / "script.json", out="fork")
    assert forked.record.score == 1.0
    assert [step.action for step in Steps(forked.folder).all] == [step.action for step in Steps(row.folder).all]
    verdict = verified(forked.folder)
    assert verdict.passed, verdict.problems
    assert f"forked from step 1 of {row.folder.path}" in verdict.remarks
    assert "resumed once" in verdict.remarks


def test_fork_requires_all_parallel_steps(play: Any, script: Any, tmp_path: Path) -> None:
    slow, quick = ("run_command", {"command": "sleep 2"}), (WRITE, {"file_name": "code/one", "content": "1"})
    steps = Steps(play(script=script([slow, quick]), together=2).folder)
    assert [step.index for step in steps.all] == [1, 0]
    with pytest.raises(UsageError, match="Fork from the last of them, 2"):
        steps.fork(1, tmp_path / "early")
    assert len(read_journal(steps.fork(2, tmp_path / "fork") / "steps.jsonl")) == 4


def test_a_changed_line_grade_or_submission_is_found(play: Any, script: Any, perfect: str) -> None:
    row = play(script=script([submit(perfect)]))
    record, journal = row.folder.record, row.folder.journal
    honest = record.read_text()
    record.write_text(honest.replace('"score": 1.0', '"score": 2.0'))
    assert "score" in verified(row.folder).checks["grade"]
    record.write_text(honest)
    lines = journal.read_bytes()
    journal.write_bytes(lines.replace(b'"write_file"', b'"wrote_file"'))
    assert not verified(row.folder).passed
    journal.write_bytes(lines)
    assert verified(row.folder).passed


def test_curve_follows_the_score(play: Any, script: Any, perfect: str, data_dir: Path) -> None:
    from podium.runs.attempt.grade_run import write_curve

    sample = (data_dir / "spaceship-titanic@miniature" / "public" / "sample_submission.csv").read_text()
    row = play(script=script([submit(sample), ("list_files", {"dir_path": "."}), submit(perfect)]))
    write_curve(row.folder, row.request.task, row_plan(row))
    scores = [point.grade.score for point in row.folder.read_curve()]
    assert scores[0] is None
    assert len(scores) == 3
    assert scores[-1] == 1.0


def row_plan(row: Any) -> Any:
    return read_experiment(row.folder.experiment).plan


def test_run_without_a_sandbox_works_and_is_marked(play: Any, script: Any, perfect: str) -> None:
    work = (WRITE, {"file_name": "code/work.py", "content": "print(len(open('data/train.csv').readlines()) > 10)"})
    run = ("execute_script", {"script_name": "code/work.py"})
    row = play(script=script([work, run, submit(perfect)]), sandbox="none")
    assert row.record.score == 1.0
    assert "True" in Steps(row.folder).observation(2).text
    assert verified(row.folder).allowed["backend"] == "none"


def test_without_a_sandbox_the_data_can_be_read_and_copied_but_not_written(play: Any, script: Any) -> None:
    sample = "data/sample_submission.csv"
    copy = ("copy_file", {"source": sample, "destination": "submission/submission.csv"})
    overwrite = (WRITE, {"file_name": sample, "content": "mine"})
    out = ("copy_file", {"source": sample, "destination": "data/copy.csv"})
    row = play(script=script([copy, overwrite, out]), sandbox="none")
    assert row.record.valid
    assert "sample_submission.csv is protected" in Steps(row.folder).observation(2).text
    assert "data/copy.csv is protected" in Steps(row.folder).observation(3).text
