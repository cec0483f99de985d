"""Parkinson's disease: two hidden patients, the interface, and rows that v1 compares with other rows' answers."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import RidgeCV
from table_trials import told
from trials import grade, play, prepare

from podium.catalog.research import parkinsons_disease
from podium.data.home import DataFolder
from podium.runs.steps import Steps

TASK = "parkinsons-disease"
PARTS = list(parkinsons_disease.PARTS)


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def place(data_dir: Path) -> DataFolder:
    prepare(TASK, data_dir, "v1")
    return prepare(TASK, data_dir)


@pytest.fixture
def answers(place: DataFolder) -> pd.DataFrame:
    return pd.read_csv(place.private / "test.csv")


@pytest.fixture
def interface(place: DataFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module that hands out test visits, in a folder with the data."""
    (tmp_path / "data").symlink_to(place.public)
    monkeypatch.chdir(tmp_path)
    starter = parkinsons_disease.task.starter
    assert starter is not None
    found = importlib.util.spec_from_file_location("interface", starter.folder / starter.read_only[0])
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def handed_in(interface: ModuleType, ratings: dict[str, float]) -> pd.DataFrame:
    """The submission that comes of answering the interface with these ratings."""
    api = interface.MockApi()
    for _, _, _, sample in api.iter_test():
        sample["rating"] = sample["prediction_id"].map(ratings)
        api.predict(sample)
    return pd.read_csv("submission/submission.csv")


def filled(answers: pd.DataFrame) -> dict[str, float]:
    """The true ratings; something for those that are not known."""
    return answers.set_index("prediction_id")["rating"].fillna(7.0).to_dict()


def by_month(place: DataFolder, answers: pd.DataFrame) -> dict[str, float]:
    """What is usual at the month asked for."""
    clinical = pd.read_csv(place.public / "train_clinical_data.csv")
    usual = clinical.groupby("visit_month")[PARTS].median()
    return {name: usual.loc[_then(name), _part(name)] for name in answers["prediction_id"]}


def by_proteins(place: DataFolder, answers: pd.DataFrame) -> dict[str, float]:
    """What proteins tell: a line from their abundance at the patient's visits to the rating."""
    clinical = pd.read_csv(place.public / "train_clinical_data.csv")
    known, asked = (
        np.log(pd.read_csv(path).pivot_table(index="patient_id", columns="UniProt", values="NPX", aggfunc="mean"))
        for path in (place.public / "train_proteins.csv", place.public / "example_test_files" / "test_proteins.csv")
    )
    found = {}
    for part in PARTS:
        rows = clinical.dropna(subset=[part])
        seen = known.reindex(rows["patient_id"]).fillna(known.mean()).to_numpy()
        months = rows[["visit_month"]].to_numpy() / 40
        model = RidgeCV(np.logspace(-3, 3, 13)).fit(np.hstack([months, seen, seen * months]), np.log1p(rows[part]))
        for name in answers["prediction_id"][answers["prediction_id"].str.contains(part)]:
            patient, month = asked.loc[[int(name.split("_")[0])]].to_numpy(), np.array([[_then(name) / 40]])
            found[name] = float(np.expm1(model.predict(np.hstack([month, patient, patient * month]))[0]).clip(0))
    return found


def _then(name: str) -> int:
    words = name.split("_")
    return int(words[1]) + int(words[-2])


def _part(name: str) -> str:
    return "_".join(name.split("_")[2:4])


def test_two_patients_are_hidden(place: DataFolder, answers: pd.DataFrame) -> None:
    hidden = {name.split("_")[0] for name in answers["prediction_id"]}
    assert len(hidden) == 2
    assert set(told(place, "patient_id", hidden)) & set(PARTS) == set()
    for name in parkinsons_disease.PATIENT_TABLES:
        assert not pd.read_csv(place.public / f"{name}.csv")["patient_id"].astype(str).isin(hidden).any()
    for name in ("test", "test_peptides", "test_proteins"):
        table = pd.read_csv(place.public / "example_test_files" / f"{name}.csv")
        assert set(table["patient_id"].astype(str)) == hidden


def test_answers_are_real_visits_horizon_by_horizon(place: DataFolder, answers: pd.DataFrame) -> None:
    clinical = pd.read_csv(place.raw / "train_clinical_data.csv").set_index("visit_id")
    for name, rating, month in answers.itertuples(index=False):
        patient = name.split("_")[0]
        truth = clinical.loc[f"{patient}_{_then(name)}", _part(name)]
        assert rating == truth or (np.isnan(rating) and np.isnan(truth))
        assert f"{patient}_{month}" in clinical.index
    waits = answers["prediction_id"].str.split("_").str[-2].astype(int)
    assert waits.is_monotonic_increasing and set(waits) == {0, 6, 12, 24}


def test_a_better_model_scores_better_in_the_fixed_edition(
    place: DataFolder, answers: pd.DataFrame, interface: ModuleType, tmp_path: Path, data_dir: Path
) -> None:
    tables = [handed_in(interface, make(place, answers)) for make in (by_month, by_proteins)]
    tables.append(handed_in(interface, filled(answers)))
    scores = [grade(TASK, table, tmp_path, data_dir).score for table in tables]
    assert None not in scores
    assert scores[0] > 1.3 * scores[1]  # type: ignore[operator]
    assert scores[2] == 0


def test_v1_compares_other_rows(
    place: DataFolder, answers: pd.DataFrame, interface: ModuleType, tmp_path: Path, data_dir: Path
) -> None:
    perfect, usual = (handed_in(interface, make) for make in (filled(answers), by_month(place, answers)))
    aligned = (perfect["prediction_id"] == answers["prediction_id"]).mean()
    assert aligned < 0.1  # the interface goes month by month, the answers horizon by horizon
    wrong = [grade(TASK, table, tmp_path, data_dir, "v1").score or 0 for table in (perfect, usual)]
    assert wrong[0] > wrong[1]  # so the truth scores worse than what is usual
    assert grade(TASK, usual, tmp_path, data_dir).score > 10  # type: ignore[operator]
    in_their_order = answers.fillna({"rating": 7.0})
    assert grade(TASK, in_their_order, tmp_path, data_dir, "v1").score == 0


def test_ratings_are_compared_plus_one(answers: pd.DataFrame, tmp_path: Path, data_dir: Path) -> None:
    rated = answers["rating"].dropna()
    table = answers.assign(rating=answers["rating"].fillna(0) + 2)
    expected = 100 * np.mean(2 / (rated + 1 + 1))
    assert grade(TASK, table, tmp_path, data_dir).score == pytest.approx(expected)


def test_malformed_submissions_are_explained(answers: pd.DataFrame, tmp_path: Path, data_dir: Path) -> None:
    table = answers.fillna({"rating": 0.0})
    faults = {
        "is below 0": table.assign(rating=-1),
        "1 id is missing": table.iloc[1:],
        "is blank": answers,
        "Column 'rating' is missing": table[["prediction_id"]],
    }
    for message, wrong in faults.items():
        assert message in str(grade(TASK, wrong, tmp_path, data_dir).error)


def test_the_interface_is_strict(interface: ModuleType) -> None:
    api = interface.MockApi()
    with pytest.raises(RuntimeError, match="no month to predict"):
        api.predict(pd.DataFrame())
    months = api.iter_test()
    first = next(months)
    assert {len(set(table["visit_month"])) for table in first} == {1}
    with pytest.raises(TypeError, match="takes a DataFrame, not list"):
        api.predict([1])
    with pytest.raises(RuntimeError, match="Call predict for month 0"):
        next(months)
    with pytest.raises(RuntimeError, match="only once"):
        next(api.iter_test())


def test_data_comes_from_kaggle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(parkinsons_disease, "download", lambda slug, raw: asked.append((slug, raw)))
    parkinsons_disease.fetch(tmp_path)
    assert asked == [("amp-parkinsons-disease-progression-prediction", tmp_path)]


@pytest.mark.slow
def test_the_starter_runs_in_the_sandbox(place: DataFolder, tmp_path: Path, data_dir: Path) -> None:
    row = play(TASK, tmp_path / "run", data_dir)
    assert "Mean SMAPE+1: " in Steps(row.folder).observation(1).text
    assert row.record.valid, row.record.error
    assert float(row.record.score or 0) > 10
