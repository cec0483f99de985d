from __future__ import annotations

import json
import math
import os
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from toys import Toy, toy_task

from podium.errors import PodiumError, UsageError
from podium.grading.batch_report import BatchEntry, batch_report, check_prepared, grade_batch, read_batch
from podium.task import Columns, Leaderboard, Task


@pytest.fixture
def toy(tmp_path: Path) -> Toy:
    answers = pd.DataFrame({"id": [1, 2], "y": [0.0, 1.0]})
    board = Leaderboard(lower_is_better=True, scores=(0.0, 0.5, 1.0))
    return Toy(toy_task(Columns("id", "y", float), answers, reference=board), tmp_path)


def test_entries_are_read_with_paths_relative_to_their_file(tmp_path: Path) -> None:
    lines = [
        {"competition_id": "a", "submission_path": "one.csv"},
        {"task": "b", "submission_path": "/elsewhere/two.csv"},
        {"competition_id": "c", "submission_path": None},
    ]
    path = tmp_path / "runs.jsonl"
    path.write_text("\n\n".join(map(json.dumps, lines)), encoding="utf-8")
    assert read_batch(path) == [
        BatchEntry("a", tmp_path / "one.csv"),
        BatchEntry("b", Path("/elsewhere/two.csv")),
        BatchEntry("c", None),
    ]


@pytest.mark.parametrize(
    "line",
    ["{", "[]", "null", "3", "{}", '{"task": "a"}', '{"submission_path": "x"}', '{"task": "a", "submission_path": 3}'],
)
def test_a_wrong_line_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_text('{"task": "a", "submission_path": "x"}\n' + line, encoding="utf-8")
    with pytest.raises(UsageError, match=r"runs\.jsonl, line 2: expected a JSON object with 'competition_id'"):
        read_batch(path)
    path.write_text("\n", encoding="utf-8")
    with pytest.raises(UsageError, match="lists no submissions"):
        read_batch(path)


def test_every_entry_gets_a_report_whatever_it_is(toy: Toy, tmp_path: Path) -> None:
    paths = [toy.write("id,y\n1,0\n2,1\n", "best.csv"), toy.write("nonsense", "bad.csv"), tmp_path / "none", tmp_path]
    entries = [BatchEntry("toy", path) for path in (*paths, None)]
    reports = list(grade_batch(entries, lambda _: toy.task, data_dir=toy.data_dir, edition="v1", jobs=1))
    assert [report["valid_submission"] for report in reports] == [True, False, False, False, False]
    assert [report["submission_exists"] for report in reports] == [True, True, False, False, False]
    document = json.loads(json.dumps(batch_report(reports), allow_nan=False))
    assert (document["total_runs"], document["total_medals"], document["total_above_median"]) == (5, 1, 1)


def load_fragile(name: str) -> Task:
    """A task whose score is a matter of luck: some first cells raise, some end the process."""
    if name == "unreadable":
        raise PodiumError("The answers are damaged.")
    task = toy_task(Columns("id", "y", float), pd.DataFrame({"id": [1, 2], "y": [0.0, 1.0]}))

    @task.score
    def score(answers: pd.DataFrame, submission: pd.DataFrame) -> float:
        first = submission["y"].iloc[0]
        if first == 7:
            os._exit(7)
        if first == 8:
            raise ZeroDivisionError("eight")
        return float(first)

    return task


@pytest.mark.parametrize("jobs", [1, 2])
def test_ungradable_entry_does_not_stop_the_others(tmp_path: Path, jobs: int) -> None:
    toy = Toy(load_fragile("toy"), tmp_path)
    firsts = [1, 8, 7, 2, 3] if jobs > 1 else [1, 8, 2, 3]
    entries = [BatchEntry("toy", toy.write(f"id,y\n1,{first}\n2,1\n", f"{first}.csv")) for first in firsts]
    entries += [BatchEntry("unreadable", entries[0].submission), BatchEntry("toy", tmp_path / ("x" * 300))]
    reports = list(grade_batch(entries, load_fragile, data_dir=toy.data_dir, edition="v1", jobs=jobs))
    found = {Path(entry.submission or "").stem: report for entry, report in zip(entries[:-2], reports, strict=False)}
    assert [found[name]["score"] for name in "123"] == [1.0, 2.0, 3.0]
    assert found["8"]["error"] == "Grading failed (ZeroDivisionError: eight)."
    assert jobs == 1 or "The grading process was killed" in found["7"]["error"]
    assert (reports[-2]["error"], reports[-1]["error"]) == ("The answers are damaged.", "There is no submission.")
    assert (reports[-2]["submission_exists"], reports[-1]["submission_exists"]) == (True, False)
    assert batch_report(reports)["total_valid_submissions"] == 3


def test_an_infinite_score_is_a_text_in_reports(tmp_path: Path) -> None:
    board = Leaderboard(lower_is_better=True, scores=(-math.inf, 0.5, 1.0))
    task = toy_task(Columns("id", "y", float), pd.DataFrame({"id": [1], "y": [0.0]}), reference=board)
    task.score(lambda answers, submission: -math.inf)
    toy = Toy(task, tmp_path)
    entries = [BatchEntry("toy", toy.write("id,y\n1,0\n"))]
    (report,) = grade_batch(entries, lambda _: task, data_dir=toy.data_dir, edition="v1", jobs=1)
    assert json.loads(json.dumps(report, allow_nan=False)) == report
    assert (report["score"], report["gold_threshold"], report["gold_medal"]) == ("-Infinity", "-Infinity", True)


def test_what_is_not_prepared_is_named_before_anything_is_graded(toy: Toy) -> None:
    known = {"toy": toy.task, "other": replace(toy.task, id="other")}
    check_prepared([BatchEntry("toy", None)], known.__getitem__, data_dir=toy.data_dir, edition=None)
    with pytest.raises(PodiumError, match=r"Tasks are not prepared: other\. Run: podium prepare other"):
        entries = [BatchEntry("toy", None), BatchEntry("other", None)]
        check_prepared(entries, known.__getitem__, data_dir=toy.data_dir, edition=None)
