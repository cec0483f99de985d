from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from toys import Toy, toy_task

from podium.errors import PodiumError, UsageError
from podium.grading.batch import BatchEntry, batch_report, check_prepared, grade_batch, read_batch
from podium.task import Columns, Leaderboard


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
    with pytest.raises(UsageError, match="holds no submissions"):
        read_batch(path)


def test_every_entry_gets_a_report_whatever_it_is(toy: Toy, tmp_path: Path) -> None:
    paths = [toy.write("id,y\n1,0\n2,1\n", "best.csv"), toy.write("nonsense", "bad.csv"), tmp_path / "none", tmp_path]
    entries = [BatchEntry("toy", path) for path in (*paths, None)]
    reports = list(grade_batch(entries, lambda _: toy.task, data_dir=toy.data_dir, edition="v1", jobs=1))
    assert [report["valid_submission"] for report in reports] == [True, False, False, False, False]
    assert [report["submission_exists"] for report in reports] == [True, True, False, False, False]
    document = json.loads(json.dumps(batch_report(reports), allow_nan=False))
    assert (document["total_runs"], document["total_medals"], document["total_above_median"]) == (5, 1, 1)


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
    with pytest.raises(PodiumError, match=r"Not prepared: other\. Run: podium prepare other"):
        entries = [BatchEntry("toy", None), BatchEntry("other", None)]
        check_prepared(entries, known.__getitem__, data_dir=toy.data_dir, edition=None)
