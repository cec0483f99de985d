"""Feedback: the shuffled split, random numbers to replace, rows by id or by position."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from table_trials import run_starter, told
from trials import grade, play, prepare

import podium
from podium.catalog.research import feedback
from podium.data.home import DataFolder

TASK = "feedback"
SCALES = list(feedback.SCALES)
MODEL = {
    "    return None": """    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline
    return make_pipeline(TfidfVectorizer(), Ridge()).fit(texts, scores)""",
    "    return np.random.rand(len(texts), len(SCALES))": "    return model.predict(texts)",
}


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def place(data_dir: Path) -> DataFolder:
    prepare(TASK, data_dir, "v1")
    return prepare(TASK, data_dir)


@pytest.fixture
def answers(place: DataFolder) -> pd.DataFrame:
    return pd.read_csv(place.private / "test.csv")[["text_id", *SCALES]]


def test_two_of_a_hundred_are_hidden(place: DataFolder, answers: pd.DataFrame) -> None:
    raw = pd.read_csv(place.raw / "train.csv").sample(frac=1, random_state=42)
    train, test = (pd.read_csv(place.public / f"{part}.csv") for part in ("train", "test"))
    assert train["text_id"].tolist() == raw["text_id"][:980].tolist()
    assert test["text_id"].tolist() == answers["text_id"].tolist() == raw["text_id"][980:].tolist()
    assert list(test) == ["text_id", "full_text"]
    assert told(place, "text_id", set(answers["text_id"])) == {"text_id", "full_text"}


@pytest.mark.slow
def test_a_model_beats_the_means_and_those_random_numbers(place: DataFolder, tmp_path: Path, data_dir: Path) -> None:
    scores = []
    for name, edits in (("random", {}), ("model", MODEL)):
        folder = tmp_path / name
        folder.mkdir()
        done = run_starter(place, feedback.task.starter, folder, edits)  # type: ignore[arg-type]
        assert "cohesion: RMSE " in done.stdout and "MCRMSE: " in done.stdout, done.stderr
        scores.append(podium.grade(TASK, folder / "submission" / "submission.csv", data_dir=data_dir).score or 0)
    sample = podium.grade(TASK, place.public / "sample_submission.csv", data_dir=data_dir)
    assert scores[0] == pytest.approx(2.6, abs=0.4)
    assert scores[1] < 0.9 * float(sample.score or 0) < 0.9 * scores[0]


def test_v1_compares_rows_by_position(answers: pd.DataFrame, tmp_path: Path, data_dir: Path) -> None:
    turned = answers[::-1]
    assert grade(TASK, turned, tmp_path, data_dir).score == 0
    assert float(grade(TASK, turned, tmp_path, data_dir, "v1").score or 0) > 0.3
    numbered = answers.assign(text_id=range(len(answers)))  # as the original's starter writes them
    assert grade(TASK, numbered, tmp_path, data_dir, "v1").score == 0
    assert "unknown" in str(grade(TASK, numbered, tmp_path, data_dir).error)


def test_the_score_is_the_mean_of_six_errors(answers: pd.DataFrame, tmp_path: Path, data_dir: Path) -> None:
    off = answers.assign(cohesion=answers["cohesion"] + 3, syntax=answers["syntax"] - 1.5)
    assert grade(TASK, off, tmp_path, data_dir).score == pytest.approx(4.5 / 6)


def test_malformed_submissions_are_explained(answers: pd.DataFrame, tmp_path: Path, data_dir: Path) -> None:
    faults = {
        "Column 'grammar' is missing": answers.drop(columns="grammar"),
        "1 id is missing": answers.iloc[1:],
        "is blank": answers.assign(syntax=""),
    }
    for message, table in faults.items():
        assert message in str(grade(TASK, table, tmp_path, data_dir).error)


def test_data_comes_from_kaggle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(feedback, "download", lambda slug, raw: asked.append((slug, raw)))
    feedback.fetch(tmp_path)
    assert asked == [("feedback-prize-english-language-learning", tmp_path)]


@pytest.mark.slow
def test_the_starter_runs_in_the_sandbox(place: DataFolder, tmp_path: Path, data_dir: Path) -> None:
    row = play(TASK, tmp_path / "run", data_dir)
    assert row.record.valid, row.record.error
    assert float(row.record.score or 0) == pytest.approx(2.6, abs=0.4)
