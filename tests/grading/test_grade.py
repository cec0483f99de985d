"""From a file to a score, a medal and a place."""

from __future__ import annotations

import gzip
import io
import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from toys import Toy, toy_task

import podium
from podium.errors import InvalidSubmission, NotPreparedError, PodiumError, UsageError
from podium.grading.baseline_score import improvement
from podium.metrics import accuracy, mae, pearson, rmse
from podium.metrics.detection import point_f1
from podium.task import Baseline, Columns, Integer, Leaderboard, Metric, Number, Text

ROWS = 30
ids = pd.Series(range(ROWS), name="id")
noise = np.random.default_rng(0)
FORMS: dict[str, tuple[Columns, pd.DataFrame, Metric]] = {
    "number": (Columns("id", "y", Number(0, 1)), pd.DataFrame({"id": ids, "y": noise.random(ROWS)}), mae),
    "integer": (Columns("id", "y", Integer(0, 9)), pd.DataFrame({"id": ids, "y": noise.integers(0, 9, ROWS)}), mae),
    "boolean": (Columns("id", "y", bool), pd.DataFrame({"id": ids, "y": noise.random(ROWS) < 0.5}), accuracy),
    "choices": (
        Columns("id", "y", Text(choices=("NA", "no", "1"))),
        pd.DataFrame({"id": ids, "y": noise.choice(["NA", "no", "1"], ROWS)}),
        accuracy,
    ),
    "distribution": (
        Columns("id", ("p", "q"), Number(0, 1), row_total=1.0),
        pd.DataFrame({"id": ids, "p": ids / ROWS, "q": 1 - ids / ROWS}),
        mae,
    ),
    "two-ids": (
        Columns(("user", "day"), "y", float),
        pd.DataFrame({"user": [f"u{number}" for number in ids // 3], "day": ids % 3, "y": noise.random(ROWS)}),
        mae,
    ),
    "other-names": (
        Columns("id", ("a", "b"), float, answers_target=("true a", "true b")),
        pd.DataFrame({"id": ids, "true a": noise.random(ROWS), "true b": noise.random(ROWS)}),
        mae,
    ),
}


def perfect(form: Columns, answers: pd.DataFrame) -> pd.DataFrame:
    """The answers in the columns of a submission."""
    names = form.answers_target or form.target
    names = (names,) if isinstance(names, str) else names
    return answers.rename(columns=dict(zip(names, form.targets, strict=True)))[[*form.ids, *form.targets]]


def guess(form: Columns, answers: pd.DataFrame) -> pd.DataFrame:
    """The answers, but those of the last ten rows moved by one."""
    table = perfect(form, answers)
    table.loc[20:, list(form.targets)] = np.roll(table.loc[20:, list(form.targets)].to_numpy(), 1, axis=0)
    return table


@pytest.fixture(params=FORMS)
def every_form(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Toy, pd.DataFrame]:
    form, answers, metric = FORMS[request.param]
    table = guess(form, answers)
    return Toy(toy_task(form, answers, sample=table, metric=metric), tmp_path), table


def test_neither_order_nor_format_changes_a_score(every_form: tuple[Toy, pd.DataFrame]) -> None:
    toy, table = every_form
    csv = table.to_csv(index=False)
    expected = toy.score(csv)
    assert 0 < expected < 1 or not toy.task.metric.higher_is_better
    assert toy.score(table.sample(frac=1, random_state=1).to_csv(index=False)) == expected
    assert toy.score(table[table.columns[::-1]].assign(more="x, y").to_csv(index=False)) == expected
    assert toy.score(gzip.compress(csv.encode()), "submission.csv.gz") == expected
    for types in ({}, dict.fromkeys(table.columns, "category"), dict.fromkeys(table.columns, "str")):
        packed = io.BytesIO()
        table.astype(types).sample(frac=1, random_state=2).to_parquet(packed)  # with an index
        assert toy.score(packed.getvalue(), "submission.parquet") == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", FORMS)
def test_the_answers_are_the_best_submission(tmp_path: Path, name: str) -> None:
    form, answers, metric = FORMS[name]
    toy = Toy(toy_task(form, answers, sample=guess(form, answers), metric=metric), tmp_path)
    best = toy.score(perfect(form, answers).to_csv(index=False))
    assert best == (1 if metric.higher_is_better else 0)
    assert metric.is_better(best, toy.score(toy.sample))


def test_missing_columns_of_a_wide_form_are_named(tmp_path: Path) -> None:
    form, answers, metric = FORMS["other-names"]
    toy = Toy(toy_task(form, answers, sample=guess(form, answers), metric=metric), tmp_path)
    assert toy.fault("id,a\n0,1\n") == "Column 'b' is missing. Expected: 'id', 'a', 'b'; found: 'id', 'a'."


def test_an_alias_counts_where_the_name_is_not_there(tmp_path: Path) -> None:
    form = Columns("id", "y", float, aliases={"Id": "id", "target": "y"})
    toy = Toy(toy_task(form, pd.DataFrame({"id": [1, 2], "y": [0.0, 1.0]})), tmp_path)
    assert toy.score("Id,target\n2,1\n1,0\n") == 0
    assert toy.score("Id,y,target\n2,1,x\n1,0,x\n") == 0
    assert toy.fault("Id,target,target\n2,1,x\n") == "Column 'y' is in the header more than once."
    packed = io.BytesIO()
    pd.DataFrame({"target": [1, 0], "Id": [2, 1]}).to_parquet(packed)
    assert toy.score(packed.getvalue(), "submission.parquet") == 0


def test_a_grade_is_plain_json(tmp_path: Path) -> None:
    board = Leaderboard(lower_is_better=False, scores=(0.9, 0.8, 0.2))
    task = toy_task(Columns("id", "y", float), pd.DataFrame({"id": [1], "y": [1.0]}), reference=board, metric=accuracy)

    @task.score
    def score(answers: pd.DataFrame, submission: pd.DataFrame) -> float:
        return np.float64(0.812345678)

    toy = Toy(task, tmp_path)
    document = json.loads(json.dumps(toy.grade_file(toy.write("id,y\n1,1\n")).to_dict()))
    assert document == {
        "task": "toy",
        "edition": "v1",
        "valid": True,
        "error": None,
        "score": 0.812345678,
        "score_rounded": 0.81235,
        "interval": None,
        "higher_is_better": True,
        "medal": None,
        "above_median": True,
        "percentile": pytest.approx(200 / 3),
        "rank": 2,
        "teams": 3,
        "field": False,
        "improvement": None,
        "success": None,
        "beyond_noise": None,
        "miniature": False,
    }


def test_a_measured_field_counts_before_what_the_task_declares(tmp_path: Path) -> None:
    declared = Leaderboard(lower_is_better=True, scores=(1.0,) * 20)
    field = json.dumps({"lower_is_better": True, "scores": [0.0, 2.0]})
    answers = pd.DataFrame({"id": [1], "y": [0.0]})
    toy = Toy(toy_task(Columns("id", "y", float), answers, reference=declared, leaderboard=field), tmp_path)
    grade = toy.grade_file(toy.write("id,y\n1,1\n"))
    assert (grade.teams, grade.rank, grade.medal, grade.above_median) == (2, 2, None, False)


def test_no_reference_means_no_medal(numbers: Toy) -> None:
    grade = numbers.grade_file(numbers.write(numbers.sample))
    assert grade.valid
    assert grade.medal is grade.percentile is grade.above_median is grade.improvement is None


@pytest.mark.parametrize(
    ("guess", "baseline", "gain", "success"),
    [(0.5, 1.0, 50.0, True), (0.9, 1.0, 10.0, False), (2.0, 1.0, -100.0, False), (1.0, 0.0, None, None)],
)
def test_a_research_task_measures_improvement(
    tmp_path: Path, guess: float, baseline: float, gain: float | None, success: bool | None
) -> None:
    answers = pd.DataFrame({"id": [1], "y": [0.0]})
    toy = Toy(toy_task(Columns("id", "y", float), answers, reference=Baseline(baseline)), tmp_path)
    grade = toy.grade_file(toy.write(f"id,y\n1,{guess}\n"))
    assert grade.improvement == (gain if gain is None else pytest.approx(gain))
    assert grade.success is success


def test_improvement_has_the_sign_of_the_gain() -> None:
    assert improvement(-1.0, -2.0, higher_is_better=True) == 50
    assert improvement(-1.0, -2.0, higher_is_better=False) == -50


def test_an_infinite_score_is_explained(tmp_path: Path) -> None:
    answers = pd.DataFrame({"id": [1, 2], "y": [0.0, 1.0]})
    toy = Toy(toy_task(Columns("id", "y", float), answers, metric=rmse), tmp_path)
    error = toy.grade_file(toy.write("id,y\n1,1e300\n2,1\n")).error
    assert error == "RMSE is infinite for this submission. Check whether the values in column 'y' are too large."


@pytest.fixture
def unbounded(tmp_path: Path) -> Toy:
    """Scored by an infinity of the sign of the prediction: the logarithm of no error at all is minus infinity."""
    board = Leaderboard(lower_is_better=True, teams=9, gold=-3.0, quantiles=(-4.0, -3.0, 0.0))
    task = toy_task(Columns("id", "y", float), pd.DataFrame({"id": [1], "y": [0.0]}), reference=board)

    @task.score
    def score(answers: pd.DataFrame, submission: pd.DataFrame) -> float:
        return np.copysign(np.inf, submission["y"].iloc[0])

    return Toy(task, tmp_path)


def test_only_the_best_score_may_be_infinite(unbounded: Toy) -> None:
    best = unbounded.grade_file(unbounded.write("id,y\n1,-1\n"))
    assert (best.valid, best.score, best.medal, best.percentile) == (True, -math.inf, "gold", 100.0)
    assert not unbounded.grade_file(unbounded.write("id,y\n1,1\n")).valid


def test_an_infinite_score_is_a_text_in_json(unbounded: Toy) -> None:
    grade = unbounded.grade_file(unbounded.write("id,y\n1,-1\n")).to_dict()
    assert json.loads(json.dumps(grade, allow_nan=False)) == grade
    assert grade["score"] == grade["score_rounded"] == "-Infinity"
    assert float(grade["score"]) == -math.inf


def test_an_undefined_score_is_explained(tmp_path: Path) -> None:
    answers = pd.DataFrame({"id": [1, 2], "y": [0.0, 1.0]})
    toy = Toy(toy_task(Columns("id", "y", float), answers, metric=pearson), tmp_path)
    path = toy.write("id,y\n1,5\n2,5\n")
    assert toy.validate_file(path).valid
    error = toy.grade_file(path).error
    expected = "is undefined for this submission. Check whether the values in column 'y' are constant."
    assert error == f"{pearson.title} {expected}"


def test_a_task_may_refuse_a_submission_itself(tmp_path: Path) -> None:
    task = toy_task(Columns("id", "y", str), pd.DataFrame({"id": [1], "y": ["a b"]}))

    @task.score
    def score(answers: pd.DataFrame, submission: pd.DataFrame) -> float:
        raise InvalidSubmission("Column 'y', row 1: too few words.")

    toy = Toy(task, tmp_path)
    assert toy.grade_file(toy.write("id,y\n1,a\n")).error == "Column 'y', row 1: too few words."


def test_a_metric_learns_what_rows_are_called(tmp_path: Path) -> None:
    answers = pd.DataFrame({"page": ["p"], "part": [2], "y": ["a 1 1 5 5"]})
    toy = Toy(toy_task(Columns(("page", "part"), "y", str), answers, metric=point_f1), tmp_path)
    assert toy.grade_file(toy.write("page,part,y\np,2,a 2 2\n")).score == 1
    assert str(toy.grade_file(toy.write("page,part,y\np,2,a 2\n")).error).startswith("id p, 2: ")


def test_validation_needs_no_answers(numbers: Toy) -> None:
    private = numbers.data_dir / "toy" / "private"
    for path in private.iterdir():
        path.unlink()
    private.rmdir()
    assert numbers.validate_file(numbers.write(numbers.sample)).valid


def test_what_is_not_prepared_names_the_command(tmp_path: Path) -> None:
    task = toy_task(Columns("id", "y", float), pd.DataFrame({"id": [1], "y": [0.0]}))
    task.fixed("It leaked.")
    for ask in (podium.grade, podium.validate):
        with pytest.raises(NotPreparedError, match=r"toy is not prepared in .*/toy\. Run: podium prepare toy$"):
            ask(task, tmp_path / "submission.csv", data_dir=tmp_path)
        with pytest.raises(NotPreparedError, match=r"Run: podium prepare toy --edition fixed$"):
            ask(task, tmp_path / "submission.csv", data_dir=tmp_path, edition="fixed")


def test_an_edition_that_is_not_there_is_named(numbers: Toy) -> None:
    for ask in (podium.grade, podium.validate):
        with pytest.raises(UsageError, match=r"toy has no edition 'fixed'. It has: v1"):
            ask(numbers.task, numbers.folder, data_dir=numbers.data_dir, edition="fixed")


def test_editions_are_graded_by_their_own_rules(tmp_path: Path) -> None:
    task = toy_task(Columns("id", "y", float), pd.DataFrame({"id": [1], "y": [0.5]}))
    task.fixed("Predictions are shares.", submission=Columns("id", "y", Number(0, 1)), metric=mae)
    for edition in task.editions:
        podium.prepare(task, data_dir=tmp_path, edition=edition)
    path = tmp_path / "submission.csv"
    path.write_text("id,y\n1,1.5\n", encoding="utf-8")
    assert podium.grade(task, path, data_dir=tmp_path).score == 1
    fixed = podium.grade(task, path, data_dir=tmp_path, edition="fixed")
    assert fixed.edition == "fixed"
    assert fixed.error == "Column 'y', row 1 (id 1): 1.5 is above 1, the largest value allowed."


def test_a_damaged_manifest_is_not_the_fault_of_the_submission(numbers: Toy) -> None:
    manifest = numbers.data_dir / "toy" / "manifest.json"
    for text in ("{", "[]", "{}", '{"task": "toy"}', "null"):
        manifest.write_text(text, encoding="utf-8")
        with pytest.raises(PodiumError, match=r"manifest\.json is damaged .* Delete it and prepare the task again"):
            numbers.grade_file(numbers.write(numbers.sample))


@pytest.mark.parametrize("answers", ["id,y\n1,x\n", "id,y\n1,11\n", "id,y\n1,\n", "id,z\n1,2\n", "", 'id,y\n"1,2\n'])
def test_damaged_answers_are_not_the_fault_of_the_submission(numbers: Toy, answers: str) -> None:
    (numbers.data_dir / "toy" / "private" / numbers.task.submission.answers).write_text(answers, encoding="utf-8")
    manifest = numbers.data_dir / "toy" / "manifest.json"
    message = rf"^The private folder of toy is damaged \(.+\)\. Delete {manifest} and run: podium prepare toy$"
    with pytest.raises(PodiumError, match=message) as error:
        numbers.grade_file(numbers.write("id,y\n1,2\n"))
    assert not isinstance(error.value, InvalidSubmission)


@pytest.mark.parametrize("part", ["public", "private"])
def test_a_deleted_file_names_the_command(numbers: Toy, part: str) -> None:
    form = numbers.task.submission
    submission = numbers.write(numbers.sample)
    path = numbers.data_dir / "toy" / part / (form.sample if part == "public" else form.answers)
    path.unlink()
    for ask in (numbers.grade_file, numbers.validate_file) if part == "public" else (numbers.grade_file,):
        with pytest.raises(NotPreparedError, match=rf"^{path} is missing\. Run: podium prepare toy$"):
            ask(submission)
    assert podium.prepare(numbers.task, data_dir=numbers.data_dir).status == "made"
    assert numbers.grade_file(submission).valid


def test_a_damaged_sample_is_not_the_fault_of_the_submission(numbers: Toy) -> None:
    submission = numbers.write(numbers.sample)
    sample = numbers.data_dir / "toy" / "public" / numbers.task.submission.sample
    sample.write_text("nothing\n", encoding="utf-8")
    with pytest.raises(PodiumError, match=rf"^{sample} is damaged \(.+\)\. Delete .* and run: podium prepare toy$"):
        numbers.validate_file(submission)
