"""The table: every planned run has a row, whatever became of it."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

import pytest
from making import LOW, imported, report, results, row, write_report

from podium.catalog.registry import leaderboards
from podium.errors import RecordError, UsageError
from podium.report.export_results import sandbox_gaps
from podium.report.imported_results import import_reports, is_grading_reports
from podium.report.results import read_all_results, read_results, task_facts
from podium.runs.experiment import MAX_RUNS, open_experiment, run_folder
from podium.runs.records import Plan, RunRecord

TASK = "spaceship-titanic"


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    """Four planned runs: one done, one failed, one damaged, one that never began."""
    folder = tmp_path / "some"
    open_experiment(folder, Plan(agent="aide", model="maker/model"), [TASK], 4)
    known = {"task": TASK, "agent": "aide", "model": "maker/model"}
    run_folder(folder, TASK, 0).write_record(
        RunRecord(
            **known,
            seed=0,
            status="finished",
            valid=True,
            score="-Infinity",
            medal="silver",
            submission_sha256="ab",
            edition="v1",
        )
    )
    run_folder(folder, TASK, 1).write_record(
        RunRecord(**known, seed=1, status="failed", error="no model", edition="v1")
    )
    run_folder(folder, TASK, 2).path.mkdir(parents=True)
    run_folder(folder, TASK, 2).record.write_text("{")
    return folder


def test_every_planned_run_has_a_row(experiment: Path) -> None:
    rows = read_results(experiment).rows
    assert [row.status for row in rows] == ["finished", "failed", "unreadable", "missing"]
    assert [row.cause for row in rows] == [None, "run_failed", "unreadable_record", "never_ran"]
    assert "damaged" in (rows[2].error or "")
    assert rows[3].error is None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"score": "plenty"}, "score"),
        ({"score": "0.9"}, "score"),
        ({"score": math.nan}, "score"),
        ({"score": []}, "score"),
        ({"medal": "platinum"}, "medal"),
        ({"percentile": math.inf}, "percentile"),
        ({"percentile": 101}, "percentile"),
        ({"valid": None, "status": "failed", "medal": "gold"}, "but no valid submission"),
        ({"valid": False, "status": "finished", "medal": "gold"}, "medal is gold, but no valid submission"),
        ({"valid": True, "status": "finished", "submission_sha256": "ab"}, "no score"),
        ({"valid": None, "status": "finished"}, "has no grade"),
        ({"valid": False, "status": "running"}, "the run is running but has a grade"),
        ({"seed": 0}, "another run"),
        ({"task": "leaf-classification"}, "another run"),
        ({"times": {"started": "yesterday"}}, "started"),
        ({"times": {"started": "2026-01-01T00:00:00"}}, "has no time zone"),
        ({"usage": {"cost": -1}}, "cost"),
        ({"usage": {"steps": 10**400}}, "steps is 1000"),
        ({"usage": {"working_s": math.nan}}, "working_s: Input should be a finite number"),
        ({"usage": {"used_s": 1}}, "used_s"),
        ({"surprise": 1}, "surprise"),
    ],
)
def test_an_impossible_record_is_an_unreadable_row(experiment: Path, change: dict[str, Any], said: str) -> None:
    file = run_folder(experiment, TASK, 1).record
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    rows = read_results(experiment).rows
    assert rows[1].status == "unreadable"
    assert said in (rows[1].error or "")
    assert (rows[0].status, rows[0].medal) == ("finished", "silver")


@pytest.mark.parametrize("kind", ["pipe", "link", "folder", "binary", "deep", "twice", "huge"])
def test_an_abnormal_record_file_is_unreadable_and_does_not_block(experiment: Path, kind: str) -> None:
    file = run_folder(experiment, TASK, 1).record
    aside = file.rename(file.with_name("aside"))
    match kind:
        case "pipe":
            os.mkfifo(file)
        case "link":
            file.symlink_to(aside)
        case "folder":
            file.mkdir()
        case "binary":
            file.write_bytes(b"\xff\x00" * 99)
        case "deep":
            file.write_text("[" * 200_000)
        case "twice":
            file.write_text(aside.read_text().replace("{", '{"medal": "gold", ', 1))
        case "huge":
            os.truncate(aside, 1 << 40)  # sparse
            aside.rename(file)
    rows = read_results(experiment).rows
    assert [row.status for row in rows] == ["finished", "unreadable", "unreadable", "missing"]
    assert "run.json" in (rows[1].error or "")


@pytest.mark.parametrize(
    ("name", "value"), [("tasks", ["../../etc"]), ("tasks", ["a/b"]), ("seeds", MAX_RUNS + 1), ("seeds", "many")]
)
def test_an_experiment_that_cannot_be_is_refused(experiment: Path, name: str, value: object) -> None:
    file = experiment / "experiment.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {name: value}))
    with pytest.raises(RecordError, match=r"experiment\.json"):
        read_results(experiment)


@pytest.mark.parametrize("change", [{"reports": [{}]}, {"planned": {TASK: MAX_RUNS + 1}}, {"agent": 7}])
def test_a_damaged_import_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    imported(tmp_path, [[report(TASK)]])
    file = tmp_path / "out" / "imported.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    with pytest.raises(RecordError, match=r"imported\.json"):
        read_results(tmp_path / "out")


def test_a_row_has_the_values_of_its_record(experiment: Path) -> None:
    row = read_results(experiment).rows[0]
    assert (row.score, row.medal, row.submitted, row.model) == (float("-inf"), "silver", True, "maker/model")
    assert (row.kind, row.complexity, row.competition) == ("tabular classification", None, True)


def test_no_medal_counts_without_a_valid_submission(tmp_path: Path) -> None:
    row = imported(tmp_path, [[report(TASK, "gold", valid_submission=False, score=None)]]).rows[0]
    assert (row.medal, row.above_median) == (None, False)


def test_links_are_not_imported(tmp_path: Path) -> None:
    write_report(tmp_path / "secret_grading_report.json", [report(TASK)])
    write_report(tmp_path / "secrets" / "a_grading_report.json", [report(TASK)])
    write_report(tmp_path / "groups" / "b_grading_report.json", [report(TASK)])
    (tmp_path / "groups" / "c_grading_report.json").symlink_to(tmp_path / "secret_grading_report.json")
    (tmp_path / "groups" / "linked").symlink_to(tmp_path / "secrets")
    assert len(import_reports(tmp_path / "groups", tmp_path / "out").reports) == 1
    with pytest.raises(UsageError, match="cannot be read"):
        import_reports(tmp_path / "groups" / "c_grading_report.json", tmp_path / "other")


def test_experiments_with_equal_names_get_distinct_names(experiment: Path, tmp_path: Path) -> None:
    other = tmp_path / "elsewhere" / "some"
    open_experiment(other, Plan(agent="aide"), [TASK], 1)
    assert len({found.name for found in read_all_results([experiment, other, experiment])}) == 2


def test_a_folder_without_experiment_is_refused_with_a_command(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="podium run TASK --out"):
        read_results(tmp_path)


def test_forged_tasks_have_the_kind_of_their_family() -> None:
    assert task_facts("forge-graph-hard-7")["kind"] == task_facts("forge-graph-medium-107")["kind"]
    assert task_facts("forge-graph-hard-7")["competition"]
    assert task_facts(LOW[0])["complexity"] == "low"


def test_grading_reports_are_seeds_in_the_order_of_their_paths(tmp_path: Path) -> None:
    found = imported(tmp_path, [[report(LOW[0], "gold"), report(LOW[1])], [report(LOW[0], "bronze")]])
    assert found.imported
    assert found.experiment.seeds == 2
    assert [(row.task, row.seed, row.medal, row.status) for row in found.rows] == [
        (LOW[0], 0, "gold", "finished"),
        (LOW[0], 1, "bronze", "finished"),
        (LOW[1], 0, None, "finished"),
        (LOW[1], 1, None, "missing"),
    ]


def test_a_graded_score_is_placed_among_people(tmp_path: Path) -> None:
    board = leaderboards()[LOW[0]]
    seeds = [
        [report(LOW[0], score=board["best"]), report("unheard-of", score=0.9)],
        [report(LOW[0], score=board["median"])],
    ]
    best, median, *unheard = imported(tmp_path, seeds).rows
    assert (best.percentile or 0) > 90  # many teams share the best score
    assert median.percentile == pytest.approx(50, abs=5)
    assert unheard[0].percentile is None


def test_runs_that_only_the_metadata_names_are_missing(tmp_path: Path) -> None:
    group = tmp_path / "2025_run-group_aide"
    write_report(group / "x_grading_report.json", [report(LOW[0])])
    runs = {f"{LOW[0]}_1": {}, f"{LOW[0]}_2": {}, f"{LOW[1]}_3": {}}
    (group / "metadata.json").write_text(json.dumps({"run_group": group.name, "runs": runs}))
    assert is_grading_reports(group)
    import_reports(group, tmp_path / "out")
    found = read_results(tmp_path / "out")
    assert found.plan.agent == "aide"
    assert [row.status for row in found.rows] == ["finished", "missing", "missing", "missing"]


def test_a_file_that_is_no_grading_report_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text('{"competition_reports": [{"competition_id": "x"}]}')
    with pytest.raises(UsageError, match=r"not an MLE-bench grading report.*gold_medal"):
        import_reports(path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_run_groups_without_a_report_say_how_to_grade(tmp_path: Path) -> None:
    (tmp_path / "metadata.json").write_text('{"runs": {}}')
    with pytest.raises(UsageError, match="podium grade --jsonl"):
        import_reports(tmp_path, tmp_path / "out")


def test_an_import_never_overwrites(tmp_path: Path) -> None:
    path = write_report(tmp_path / "grading_report.json", [report(LOW[0])])
    import_reports(path, tmp_path / "out")
    with pytest.raises(UsageError, match="already exists"):
        import_reports(path, tmp_path / "out")


def test_unenforced_sandbox_guarantees_are_reported_with_the_number_of_runs() -> None:
    gap = "memory only watched, not held by the kernel"
    rows = [row(seed=0, sandbox_gaps=f"programs were not sealed off; {gap}"), row(seed=1)]
    assert sandbox_gaps([results("one", rows)]) == [
        "one: programs were not sealed off (1 of 2 runs).",
        f"one: {gap} (1 of 2 runs).",
    ]
