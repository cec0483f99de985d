"""Obfuscated tasks: other names everywhere, the same scores."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest
from competitions import competition_ids, noisy_submission, perfect_submission, read_sample

import podium
from podium.catalog.obfuscation.obfuscate import obfuscated_id, plain_id
from podium.catalog.obfuscation.renaming import Names, read_names
from podium.catalog.registry import expand, resolve
from podium.errors import NotPreparedError, UsageError
from podium.grading.prepared_task import PreparedTask
from podium.task import Text

TITANIC = "spaceship-titanic"
TABULAR = ("spaceship-titanic", "leaf-classification", "spooky-author-identification", "champs-scalar-coupling")


def prepared(task_id: str, folder: Path) -> PreparedTask:
    podium.prepare(task_id, data_dir=folder, miniature=True)
    return resolve(task_id, data_dir=folder, miniature=True)


def translated(table: pd.DataFrame, base: PreparedTask, twin: PreparedTask) -> pd.DataFrame:
    """A submission to a task as one to its twin."""
    names, form = read_names(twin.place.private), base.task.form
    cells = {name: table[name].astype(str).map(names.new_id) for name in form.ids}
    for name in form.targets:
        text = isinstance(form.rule(name), Text)
        cells[name] = table[name].map(lambda cell: names.values.get(cell, cell)) if text else table[name]
    new = dict(zip((*form.ids, *form.targets), (*twin.task.form.ids, *twin.task.form.targets), strict=True))
    return pd.DataFrame(cells).rename(columns=new)


def assert_scores_agree(task_id: str, folder: Path) -> None:
    base, twin = prepared(task_id, folder), prepared(obfuscated_id(task_id), folder)
    noisy = noisy_submission(perfect_submission(base.task, base.place), base.task)
    noisy.to_csv(folder / "plain.csv", index=False)
    translated(noisy, base, twin).to_csv(folder / "translated.csv", index=False)
    one, other = base.grade(folder / "plain.csv"), twin.grade(folder / "translated.csv")
    assert one.valid, one.error
    assert other.valid, other.error
    assert one.score is not None
    assert other.score is not None
    assert math.isclose(one.score, other.score, rel_tol=1e-9)
    assert (one.medal, one.percentile) == (other.medal, other.percentile)
    assert twin.validate(twin.place.public / "sample_submission.csv").valid


@pytest.mark.parametrize("task_id", TABULAR)
def test_a_submission_scores_the_same_under_other_names(task_id: str, tmp_path: Path) -> None:
    assert_scores_agree(task_id, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("task_id", competition_ids())
def test_every_competition_scores_the_same_under_other_names(task_id: str, tmp_path: Path) -> None:
    assert_scores_agree(task_id, tmp_path)


def test_no_name_of_the_task_is_left(tmp_path: Path) -> None:
    base, twin = prepared(TITANIC, tmp_path), prepared(obfuscated_id(TITANIC), tmp_path)
    told = twin.task.brief + "".join(path.read_text() for path in sorted(twin.place.public.iterdir()))
    columns = set(pd.read_csv(base.place.public / "train.csv").columns) - {"Age", "Name"}
    planets = set(pd.read_csv(base.place.public / "train.csv")["HomePlanet"].dropna())
    for word in columns | planets | {"Titanic", "Kaggle", "passenger", "spaceship"}:
        assert word.lower() not in told.lower()


def test_rows_that_share_a_part_of_their_ids_still_do(tmp_path: Path) -> None:
    base, twin = prepared(TITANIC, tmp_path), prepared(obfuscated_id(TITANIC), tmp_path)
    groups = [read_sample(each.task, each.place).iloc[:, 0].str.split("_").str[0] for each in (base, twin)]
    first, second = (pd.factorize(each)[0].tolist() for each in groups)
    assert first == second


def test_ids_are_mapped_one_to_one() -> None:
    names = Names(seed=7)
    ids = [f"{one:04d}_{two:02d}" for one in range(400) for two in range(3)]
    names.learn_ids(ids)
    assert len({names.new_id(row) for row in ids}) == len(ids)
    assert [names.old_id(names.new_id(row)) for row in ids] == ids


def test_ids_that_name_files_stay(tmp_path: Path) -> None:
    twin = prepared("obfuscated-aerial-cactus-identification", tmp_path)
    assert read_names(twin.place.private).ids_stay


def test_answers_and_names_are_private(tmp_path: Path) -> None:
    twin = prepared(obfuscated_id(TITANIC), tmp_path)
    assert not list(twin.place.public.rglob("names.json"))


@pytest.mark.parametrize(
    ("task_id", "reason"),
    [("forge-graph-easy-1", "generated from a seed"), ("vectorization", "only tasks whose submission is a table")],
)
def test_what_cannot_be_obfuscated_is_refused(task_id: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        podium.load(obfuscated_id(task_id))


def test_real_data_must_be_there_first(tmp_path: Path) -> None:
    with pytest.raises(NotPreparedError, match="Run: podium prepare spaceship-titanic"):
        podium.prepare(obfuscated_id(TITANIC), data_dir=tmp_path)


def test_the_id_works_like_any_other() -> None:
    assert expand([obfuscated_id(TITANIC)]) == ["obfuscated-spaceship-titanic"]
    assert plain_id("obfuscated-spaceship-titanic") == TITANIC
