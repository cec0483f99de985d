"""ogbn-arxiv: hidden labels, rows by node or by position, the published archive."""

from __future__ import annotations

import gzip
import hashlib
import io
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import RidgeClassifier
from trials import grade, needs_torch, play, prepare, site, telling_files

from podium.catalog.research import ogbn_arxiv
from podium.data.home import DataFolder
from podium.errors import RawDataError
from podium.runs.steps import Steps

TASK = "ogbn-arxiv"


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def place(data_dir: Path) -> DataFolder:
    prepare(TASK, data_dir, "v1")
    return prepare(TASK, data_dir)


@pytest.fixture
def answers(place: DataFolder) -> pd.Series:
    return pd.read_csv(place.private / "test.csv", index_col="node")["class"]


@pytest.fixture
def perfect(answers: pd.Series) -> pd.DataFrame:
    return answers.reset_index()


def arrays(place: DataFolder) -> dict[str, np.ndarray]:
    return {path.stem: np.load(path) for path in place.public.glob("*.npy")}


def test_the_labels_of_test_nodes_are_blotted_out(place: DataFolder) -> None:
    given = arrays(place)
    assert sorted(given) == ["edge_index", "labels", "node_feat", "node_year", "test", "train", "valid"]
    assert (given["labels"][given["test"]] == -1).all()
    assert (given["labels"][np.r_[given["train"], given["valid"]]] >= 0).all()
    assert given["node_feat"].shape == (3000, 128)
    assert given["node_year"][given["train"]].max() == 2017
    assert set(given["node_year"][given["valid"]]) == {2018}
    assert given["node_year"][given["test"]].min() == 2019


def test_neighbours_help(place: DataFolder, perfect: pd.DataFrame, tmp_path: Path, data_dir: Path) -> None:
    given = arrays(place)
    features, train, test = given["node_feat"], given["train"], given["test"]
    around = np.zeros_like(features)
    for first, second in (given["edge_index"], given["edge_index"][::-1]):
        np.add.at(around, first, features[second])
    tables = [pd.read_csv(place.public / "sample_submission.csv")]
    for seen in (features, np.hstack([features, around])):
        model = RidgeClassifier().fit(seen[train], given["labels"][train])
        tables.append(pd.DataFrame({"node": test, "class": model.predict(seen[test])}))
    scores = [grade(TASK, table, tmp_path, data_dir).score or 0 for table in (*tables, perfect)]
    assert scores[0] + 0.05 < scores[1]
    assert scores[1] + 0.05 < scores[2] < scores[3] == 1.0


def test_v1_compares_rows_by_position(perfect: pd.DataFrame, tmp_path: Path, data_dir: Path) -> None:
    single = perfect[["class"]].set_axis(["0"], axis=1)
    assert grade(TASK, single, tmp_path, data_dir, "v1").score == 1.0
    shuffled = perfect.sample(frac=1, random_state=1)
    assert float(grade(TASK, shuffled, tmp_path, data_dir, "v1").score or 0) < 0.3
    assert grade(TASK, shuffled, tmp_path, data_dir).score == 1.0


def test_v1_counts_from_the_original_baseline(perfect: pd.DataFrame, tmp_path: Path, data_dir: Path) -> None:
    assert grade(TASK, perfect, tmp_path, data_dir, "v1").improvement == pytest.approx(100 * (1 - 0.3134) / 0.3134)
    assert grade(TASK, perfect, tmp_path, data_dir).improvement is None


def test_malformed_submissions_are_explained(perfect: pd.DataFrame, tmp_path: Path, data_dir: Path) -> None:
    faults = {
        "Column 'node' is missing": perfect.drop(columns="node"),
        "1 id is missing": perfect.iloc[1:],
        "more than once": pd.concat([perfect, perfect.head(1)]),
        "is below 0": perfect.assign(**{"class": -1}),
        "is not a whole number": perfect.assign(**{"class": 0.5}),
    }
    for message, table in faults.items():
        assert message in str(grade(TASK, table, tmp_path, data_dir).error)
    assert "are expected" in str(grade(TASK, perfect.iloc[1:], tmp_path, data_dir, "v1").error)


def test_a_program_inside_finds_no_test_labels(
    place: DataFolder, answers: pd.Series, tmp_path: Path, data_dir: Path
) -> None:
    planted = io.BytesIO()
    np.savez(planted, everything=np.load(place.raw / "labels.npy"))
    found = telling_files(TASK, tmp_path, data_dir, answers, {"planted.npz": planted.getvalue()})
    assert found == {"/home/agent/planted.npz"}


def published(folder: Path, tables: dict[str, np.ndarray]) -> Path:
    """An archive with these tables, in the published format."""
    folder.mkdir()
    with zipfile.ZipFile(folder / ogbn_arxiv.ARCHIVE, "w") as archive:
        for name, table in tables.items():
            text = pd.DataFrame(table).to_csv(header=False, index=False)
            archive.writestr(f"arxiv/{ogbn_arxiv.TABLES[name][0]}", gzip.compress(text.encode()))
    return folder


def test_the_published_archive_becomes_arrays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = {
        "node_feat": np.array([[0.5, -1.25], [1e-7, 3.0], [0.0, 2.0]]),
        "edge_index": np.array([[0, 1], [2, 1]]),
        "node_year": np.array([[2010], [2018], [2020]]),
        "labels": np.array([[3], [39], [7]]),
        "train": np.array([[0]]),
        "valid": np.array([[1]]),
        "test": np.array([[2]]),
    }
    folder = published(tmp_path / "site", tables)
    content = (folder / ogbn_arxiv.ARCHIVE).read_bytes()
    with site(folder) as address:
        monkeypatch.setattr(ogbn_arxiv, "SITE", address)
        monkeypatch.setattr(ogbn_arxiv, "CHECKSUM", f"sha256:{hashlib.sha256(content).hexdigest()}")
        ogbn_arxiv.fetch(tmp_path / "raw")
    found = {path.stem: np.load(path) for path in (tmp_path / "raw").iterdir()}
    assert found.keys() == tables.keys()
    assert found["node_feat"].dtype == np.float32
    assert np.allclose(found["node_feat"], tables["node_feat"])
    assert found["edge_index"].tolist() == [[0, 2], [1, 1]]
    assert found["labels"].tolist() == [3, 39, 7]
    assert found["test"].tolist() == [2]


def test_an_archive_without_a_table_is_named(tmp_path: Path) -> None:
    folder = published(tmp_path / "site", {"node_feat": np.zeros((1, 2))})
    with pytest.raises(RawDataError, match=r"has no file raw/edge\.csv\.gz"):
        ogbn_arxiv.unpack(folder / ogbn_arxiv.ARCHIVE, tmp_path)


@pytest.mark.research
@needs_torch
def test_the_starter_runs_in_the_sandbox(place: DataFolder, tmp_path: Path, data_dir: Path) -> None:
    row = play(TASK, tmp_path / "run", data_dir)
    assert "epoch 4: train accuracy" in Steps(row.folder).observation(1).text
    assert row.record.valid, row.record.error
    assert 0.02 < float(row.record.score or 0) < 0.9
