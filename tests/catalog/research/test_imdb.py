"""IMDb: labels that neither files nor order tell, a skeleton that says so, and a hub to download from."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB
from trials import grade, hub_of, needs_torch, needs_transformers, play, prepare, telling_files

from podium.catalog.research import imdb
from podium.data.home import DataFolder
from podium.errors import DownloadError
from podium.runs.steps import Steps

CLASSES = list(imdb.CLASSES)


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def place(data_dir: Path) -> DataFolder:
    prepare("imdb", data_dir, "v1")
    return prepare("imdb", data_dir)


@pytest.fixture
def answers(place: DataFolder) -> pd.Series:
    return pd.read_csv(place.private / "test.csv", index_col="idx")["label"]


@pytest.fixture
def perfect(answers: pd.Series) -> pd.DataFrame:
    return pd.DataFrame(np.eye(2)[answers], columns=CLASSES).rename_axis("idx").reset_index()


def test_the_public_tables_hold_no_labels_but_those_of_train(place: DataFolder) -> None:
    columns = {path.name: pd.read_csv(path).columns.tolist() for path in place.public.glob("*.csv")}
    assert columns == {
        "sample_submission.csv": ["idx", "0", "1"],
        "test.csv": ["idx", "text"],
        "train.csv": ["text", "label"],
        "unsupervised.csv": ["text"],
    }


def test_the_order_of_the_test_reviews_tells_nothing(place: DataFolder, answers: pd.Series) -> None:
    listed = pd.read_csv(place.raw / "test.csv")["label"]
    assert listed.is_monotonic_increasing, "the dataset lists all of one class first"
    halves = answers[: len(answers) // 2].mean(), answers[len(answers) // 2 :].mean()
    assert halves == pytest.approx((0.5, 0.5), abs=0.12)
    assert (answers.diff() != 0).mean() > 0.3


def test_texts_and_answers_still_belong_together(place: DataFolder, answers: pd.Series) -> None:
    raw = pd.read_csv(place.raw / "test.csv").set_index("text")["label"]
    shown = pd.read_csv(place.public / "test.csv")
    assert (raw.loc[shown["text"]].to_numpy() == answers.loc[shown["idx"]].to_numpy()).all()


def test_a_better_model_scores_better(place: DataFolder, perfect: pd.DataFrame, tmp_path: Path, data_dir: Path) -> None:
    train, test = pd.read_csv(place.public / "train.csv"), pd.read_csv(place.public / "test.csv")
    tables = [pd.read_csv(place.public / "sample_submission.csv")]
    for longest in (1, 2):  # single words do not see what "not" turns around
        words = CountVectorizer(ngram_range=(1, longest))
        model = MultinomialNB().fit(words.fit_transform(train["text"]), train["label"])
        guess = model.predict_proba(words.transform(test["text"]))
        tables.append(test[["idx"]].join(pd.DataFrame(guess, columns=CLASSES)))
    scores = [grade("imdb", table, tmp_path, data_dir).score for table in (*tables, perfect)]
    assert scores[0] == 0.5
    assert scores[0] < scores[1] < scores[2] < scores[3] == 1.0


def test_both_editions_join_by_idx(perfect: pd.DataFrame, tmp_path: Path, data_dir: Path) -> None:
    shuffled = perfect.sample(frac=1, random_state=1)
    assert {grade("imdb", shuffled, tmp_path, data_dir, edition).score for edition in ("v1", "fixed")} == {1.0}


def test_improvement_counts_from_a_guess(perfect: pd.DataFrame, tmp_path: Path, data_dir: Path) -> None:
    assert [grade("imdb", perfect, tmp_path, data_dir, edition).improvement for edition in ("v1", "fixed")] == [
        100,
        100,
    ]


def test_malformed_submissions_are_explained(perfect: pd.DataFrame, tmp_path: Path, data_dir: Path) -> None:
    longer = pd.concat([perfect, perfect.tail(1).assign(idx=25_000)])
    assert grade("imdb", longer, tmp_path, data_dir, "v1").score == 1.0
    faults = {
        "unknown (25000)": longer,
        "1 id is missing": perfect.iloc[1:],
        "'positive' is not a number": perfect.assign(**{"1": "positive"}),
        "Column 'idx' is missing": perfect.drop(columns="idx"),
    }
    for message, table in faults.items():
        assert message in str(grade("imdb", table, tmp_path, data_dir).error)


def test_a_program_inside_finds_no_test_labels(answers: pd.Series, tmp_path: Path, data_dir: Path) -> None:
    planted = answers.to_csv().encode()
    found = telling_files("imdb", tmp_path, data_dir, answers, {"planted.csv": planted})
    assert found == {"/home/agent/planted.csv"}


def test_the_miniature_has_a_whole_model(place: DataFolder) -> None:
    assert sorted(path.name for path in (place.public / "distilbert").iterdir()) == [
        "config.json",
        "model.safetensors",
        "tokenizer_config.json",
        "vocab.txt",
    ]


@pytest.fixture
def hub() -> Iterator[tuple[str, dict[str, bytes]]]:
    files = {}
    for part in imdb.PARTS:
        table, file = pd.DataFrame({"text": ['A "film",\nin two lines', "NA"], "label": [0, 1]}), io.BytesIO()
        table.to_parquet(file)
        address = f"/datasets/{imdb.DATASET}/resolve/{imdb.DATASET_REVISION}"
        files[f"{address}/plain_text/{part}-00000-of-00001.parquet"] = file.getvalue()
    for name in imdb.MODEL_FILES:
        files[f"/{imdb.MODEL}/resolve/{imdb.MODEL_REVISION}/{name}"] = name.encode()
    with hub_of(files) as address:
        yield address, files


def test_reviews_and_model_come_from_the_hub(hub: tuple[str, dict[str, bytes]], tmp_path: Path) -> None:
    imdb.fetch_from(tmp_path, hub[0])
    assert sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()) == sorted(
        [f"{part}.csv" for part in imdb.PARTS] + [f"distilbert/{name}" for name in imdb.MODEL_FILES]
    )
    (tmp_path / "public").mkdir()
    (tmp_path / "private").mkdir()
    imdb.prepare(tmp_path, tmp_path / "public", tmp_path / "private")
    shown = pd.read_csv(tmp_path / "public" / "test.csv", keep_default_na=False)
    assert set(shown["text"]) == {'A "film",\nin two lines', "NA"}


def test_a_file_that_the_hub_lacks_is_named(hub: tuple[str, dict[str, bytes]], tmp_path: Path) -> None:
    address, files = hub
    del files[f"/{imdb.MODEL}/resolve/{imdb.MODEL_REVISION}/vocab.txt"]
    with pytest.raises(DownloadError, match=r"vocab\.txt could not be downloaded.*run the command again"):
        imdb.fetch_from(tmp_path, address)


@pytest.mark.research
@needs_torch
def test_the_starter_stops_where_the_model_is_missing(place: DataFolder, tmp_path: Path, data_dir: Path) -> None:
    row = play("imdb", tmp_path / "run", data_dir)
    assert "train.py has no model yet" in Steps(row.folder).observation(1).text
    assert row.record.score == 0.5  # of the sample submission, which is what is handed in then


FILLED = """
from transformers import AutoModelForSequenceClassification, AutoTokenizer

torch.manual_seed(0)
tokenizer = AutoTokenizer.from_pretrained("data/distilbert")
network = AutoModelForSequenceClassification.from_pretrained("data/distilbert")
optimizer = torch.optim.AdamW(network.parameters(), lr=2e-3)
for _ in range(6):
    for place in range(0, len(train), 32):
        batch = train.iloc[place : place + 32]
        inputs = tokenizer(list(batch["text"]), padding=True, return_tensors="pt")
        network(**inputs, labels=torch.tensor(batch["label"].to_numpy())).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
network.eval()


def model(text):
    return network(**tokenizer(text, return_tensors="pt")).logits[0]
"""


@pytest.mark.research
@needs_transformers
def test_a_filled_in_starter_fine_tunes_the_model(place: DataFolder, tmp_path: Path, data_dir: Path) -> None:
    skeleton = (Path(imdb.__file__).with_suffix("") / "train.py").read_text()
    mark = "# ---- the open part ends"
    files = tmp_path / "agent"
    files.mkdir()
    (files / "train.py").write_text(skeleton.replace(mark, FILLED + mark))
    command = "cd /home && cp agent/train.py train.py && python train.py"
    row = play("imdb", tmp_path / "run", data_dir, agent="command", command=command, files=files)
    assert "Validation accuracy" in Steps(row.folder).observation(1).text, Steps(row.folder).observation(1).text
    assert float(row.record.score or 0) > 0.58
