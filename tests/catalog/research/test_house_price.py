"""House prices: the split by position, a skeleton to fill, rows by id or by position."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from table_trials import run_starter, told
from trials import grade, play, prepare

import podium
from podium.catalog.research import house_price
from podium.data.home import DataFolder

TASK = "house-price"
MODEL = """
from sklearn.ensemble import RandomForestRegressor
model = RandomForestRegressor(random_state=0).fit(X_train, y_train)
train_mae = mean_absolute_error(y_train, model.predict(X_train))
valid_mae = mean_absolute_error(y_valid, model.predict(X_valid))
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
    return pd.read_csv(place.private / "test.csv")[["Id", "SalePrice"]]


def test_the_last_fifth_is_hidden(place: DataFolder, answers: pd.DataFrame) -> None:
    train, test = (pd.read_csv(place.public / f"{part}.csv") for part in ("train", "test"))
    assert train["Id"].tolist() == list(range(1, 321))
    assert test["Id"].tolist() == answers["Id"].tolist() == list(range(321, 401))
    assert list(train) == [*test, "SalePrice"]
    assert len(train.columns) == 81
    assert "SalePrice" not in told(place, "Id", set(answers["Id"].astype(str)))


def test_every_column_is_described() -> None:
    text = (house_price.task.starter.folder / "data_description.txt").read_text(encoding="utf-8")  # type: ignore[union-attr]
    described = {line.split()[0] for line in text.splitlines() if line and not line.startswith(" ")}
    assert {line.split(":")[0] for line in house_price.lines_beside(house_price.__file__)} <= described


@pytest.mark.slow
def test_skeleton_names_what_is_missing(place: DataFolder, tmp_path: Path) -> None:
    done = run_starter(place, house_price.task.starter, tmp_path, {})  # type: ignore[arg-type]
    assert done.returncode == 1
    assert done.stderr == "train.py has no model yet: set model, train_mae and valid_mae in its open part.\n"


@pytest.mark.slow
def test_a_model_in_the_gap_beats_the_sample(place: DataFolder, tmp_path: Path, data_dir: Path) -> None:
    mark = "# ---- the open part ends"
    done = run_starter(place, house_price.task.starter, tmp_path, {mark: MODEL + mark})  # type: ignore[arg-type]
    assert "Validation MAE: " in done.stdout, done.stderr
    made = podium.grade(TASK, tmp_path / "submission" / "submission.csv", data_dir=data_dir)
    sample = podium.grade(TASK, place.public / "sample_submission.csv", data_dir=data_dir)
    assert made.score is not None and sample.score is not None
    assert made.score < 0.7 * sample.score


def test_v1_compares_rows_by_position(answers: pd.DataFrame, tmp_path: Path, data_dir: Path) -> None:
    turned = answers[::-1]
    assert grade(TASK, turned, tmp_path, data_dir).score == 0
    by_position = grade(TASK, turned, tmp_path, data_dir, "v1")
    assert float(by_position.score or 0) > 1_000
    assert by_position.improvement == pytest.approx(100, abs=0.01)  # of 1e10
    assert grade(TASK, answers.assign(Id=0), tmp_path, data_dir, "v1").score == 0


def test_malformed_submissions_are_explained(answers: pd.DataFrame, tmp_path: Path, data_dir: Path) -> None:
    faults = {
        "Column 'SalePrice' is missing": answers[["Id"]],
        "1 id is missing": answers.iloc[1:],
        "is not a number": answers.assign(SalePrice="dear"),
        "80 ids are unknown": answers.assign(Id=answers["Id"] - 320),
    }
    for message, table in faults.items():
        assert message in str(grade(TASK, table, tmp_path, data_dir).error)


def test_data_comes_from_kaggle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(house_price, "download", lambda slug, raw: asked.append((slug, raw)))
    house_price.fetch(tmp_path)
    assert asked == [("home-data-for-ml-course", tmp_path)]


def test_the_floor_is_the_sample(place: DataFolder, tmp_path: Path, data_dir: Path) -> None:
    row = play(TASK, tmp_path / "run", data_dir)
    sample = podium.grade(TASK, place.public / "sample_submission.csv", data_dir=data_dir)
    assert row.record.valid, row.record.error
    assert row.record.score == sample.score
