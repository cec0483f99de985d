"""Spaceship Titanic, MLAgentBench's: the split by position, a skeleton to fill, rows by id or by position."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from table_trials import run_starter, told
from trials import grade, play, prepare

import podium
from podium.catalog.research import mlab_spaceship_titanic
from podium.data.home import DataFolder

TASK = "mlab-spaceship-titanic"
MODEL = """
from sklearn.ensemble import HistGradientBoostingClassifier
model = HistGradientBoostingClassifier(random_state=0).fit(X_train, y_train)
train_accuracy = accuracy_score(y_train, model.predict(X_train))
val_accuracy = accuracy_score(y_val, model.predict(X_val))
"""


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def place(data_dir: Path) -> DataFolder:
    prepare(TASK, data_dir, "v1")
    return prepare(TASK, data_dir)


@pytest.fixture
def answers(place: DataFolder) -> pd.DataFrame:
    return pd.read_csv(place.private / "test.csv")[["PassengerId", "Transported"]]


def test_the_last_fifth_is_hidden(place: DataFolder, answers: pd.DataFrame) -> None:
    train, test = (pd.read_csv(place.public / f"{part}.csv") for part in ("train", "test"))
    assert (len(train), len(test)) == (640, 160)
    assert test["PassengerId"].tolist() == answers["PassengerId"].tolist()
    assert train["PassengerId"].max() < test["PassengerId"].min()
    assert list(train) == [*test, "Transported"]
    assert "Transported" not in told(place, "PassengerId", set(answers["PassengerId"]))


def test_skeleton_names_what_is_missing(place: DataFolder, tmp_path: Path) -> None:
    done = run_starter(place, mlab_spaceship_titanic.task.starter, tmp_path, {})  # type: ignore[arg-type]
    assert done.returncode == 1
    assert done.stderr == "train.py has no model yet: set model, train_accuracy and val_accuracy in its open part.\n"


@pytest.mark.slow
def test_a_model_in_the_gap_beats_the_sample(place: DataFolder, tmp_path: Path, data_dir: Path) -> None:
    mark = "# ---- the open part ends"
    starter = mlab_spaceship_titanic.task.starter
    done = run_starter(place, starter, tmp_path, {mark: MODEL + mark})  # type: ignore[arg-type]
    assert "Validation accuracy: 0." in done.stdout, done.stderr
    made = podium.grade(TASK, tmp_path / "submission" / "submission.csv", data_dir=data_dir)
    sample = podium.grade(TASK, place.public / "sample_submission.csv", data_dir=data_dir)
    assert made.score is not None and sample.score is not None
    assert made.score > sample.score + 0.1


def test_v1_compares_rows_by_position(answers: pd.DataFrame, tmp_path: Path, data_dir: Path) -> None:
    turned = answers[::-1]
    assert grade(TASK, turned, tmp_path, data_dir).score == 1
    assert float(grade(TASK, turned, tmp_path, data_dir, "v1").score or 1) < 0.7
    by_position = grade(TASK, answers.assign(PassengerId="?"), tmp_path, data_dir, "v1")
    assert (by_position.score, by_position.improvement) == (1, 100)  # of 0.5


def test_malformed_submissions_are_explained(answers: pd.DataFrame, tmp_path: Path, data_dir: Path) -> None:
    faults = {
        "Column 'Transported' is missing": answers[["PassengerId"]],
        "1 id is missing": answers.iloc[1:],
        "is neither True nor False": answers.assign(Transported="perhaps"),
        "160 ids are unknown": answers.assign(PassengerId=range(160)),
    }
    for message, table in faults.items():
        assert message in str(grade(TASK, table, tmp_path, data_dir).error)


def test_data_comes_from_kaggle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(mlab_spaceship_titanic, "download", lambda slug, raw: asked.append((slug, raw)))
    mlab_spaceship_titanic.fetch(tmp_path)
    assert asked == [("spaceship-titanic", tmp_path)]


def test_the_floor_is_the_sample(place: DataFolder, tmp_path: Path, data_dir: Path) -> None:
    row = play(TASK, tmp_path / "run", data_dir)
    sample = podium.grade(TASK, place.public / "sample_submission.csv", data_dir=data_dir)
    assert row.record.valid, row.record.error
    assert row.record.score == sample.score
