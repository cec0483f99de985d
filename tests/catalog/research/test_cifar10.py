"""CIFAR-10: labels that stay hidden, scores by id, the published archive."""

from __future__ import annotations

import hashlib
import io
import tarfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from trials import grade, needs_torch, play, prepare, site, telling_files

from podium.catalog.research import cifar10
from podium.data.home import DataFolder
from podium.errors import DownloadError, RawDataError
from podium.runs.steps import Steps

CLASSES = list(cifar10.CLASSES)


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def place(data_dir: Path) -> DataFolder:
    prepare("cifar10", data_dir, "v1")
    return prepare("cifar10", data_dir)


@pytest.fixture
def answers(place: DataFolder) -> pd.Series:
    return pd.read_csv(place.private / "test.csv", index_col="id")["label"]


@pytest.fixture
def perfect(answers: pd.Series) -> pd.DataFrame:
    return pd.DataFrame(np.eye(10)[answers], columns=CLASSES).rename_axis("id").reset_index()


def test_the_public_files_are_pictures_labels_of_train_and_a_guess(place: DataFolder) -> None:
    shapes = {path.name: np.load(path).shape for path in place.public.glob("*.npy")}
    assert shapes == {
        "test_images.npy": (400, 32, 32, 3),
        "train_images.npy": (4000, 32, 32, 3),
        "train_labels.npy": (4000,),
    }
    assert pd.read_csv(place.public / "sample_submission.csv").columns.tolist() == ["id", *CLASSES]


def test_a_better_model_scores_better(place: DataFolder, perfect: pd.DataFrame, tmp_path: Path, data_dir: Path) -> None:
    images = {part: np.load(place.public / f"{part}_images.npy")[:, ::4, ::4] / 255 for part in ("train", "test")}
    flat = {part: pixels.reshape(len(pixels), -1) for part, pixels in images.items()}
    model = LinearDiscriminantAnalysis().fit(flat["train"], np.load(place.public / "train_labels.npy"))
    modelled = perfect.copy()
    modelled[CLASSES] = model.predict_proba(flat["test"])
    sample = pd.read_csv(place.public / "sample_submission.csv")
    scores = [grade("cifar10", table, tmp_path, data_dir).score for table in (sample, modelled, perfect)]
    assert scores[0] == 0.1
    assert scores[0] < scores[1] < scores[2] == 1.0


def test_order_and_the_name_of_the_index_do_not_matter(perfect: pd.DataFrame, tmp_path: Path, data_dir: Path) -> None:
    for edition in ("v1", "fixed"):
        shuffled = perfect.sample(frac=1, random_state=1).rename(columns={"id": ""})
        assert grade("cifar10", shuffled, tmp_path, data_dir, edition).score == 1.0


def test_rows_of_no_picture_are_passed_over_by_v1_only(perfect: pd.DataFrame, tmp_path: Path, data_dir: Path) -> None:
    longer = pd.concat([perfect, perfect.tail(1).assign(id=10_000)])
    assert grade("cifar10", longer, tmp_path, data_dir, "v1").score == 1.0
    assert "unknown (10000)" in str(grade("cifar10", longer, tmp_path, data_dir).error)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda table: table.head(399), "1 id is missing"),
        (lambda table: table.drop(columns="7"), "Column '7' is missing"),
        (lambda table: table.assign(**{"3": "high"}), "'high' is not a number"),
        (lambda table: table.assign(**{"3": np.nan}), "is blank"),
        (lambda table: pd.concat([table, table.head(1)]), "more than once"),
    ],
)
def test_malformed_submissions_are_explained(
    perfect: pd.DataFrame, tmp_path: Path, data_dir: Path, change: object, message: str
) -> None:
    result = grade("cifar10", change(perfect), tmp_path, data_dir)  # type: ignore[operator]
    assert not result.valid
    assert message in str(result.error)


def test_a_program_inside_finds_no_test_labels(answers: pd.Series, tmp_path: Path, data_dir: Path) -> None:
    planted = io.BytesIO()
    np.save(planted, answers.to_numpy())
    found = telling_files("cifar10", tmp_path, data_dir, answers, {"planted.npy": planted.getvalue()})
    assert found == {"/home/agent/planted.npy"}


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """A folder with an archive of three pictures a batch, in the published format."""
    rng = np.random.default_rng(5)
    folder = tmp_path / "site"
    folder.mkdir()
    with tarfile.open(folder / cifar10.ARCHIVE, "w:gz") as tar:
        for number, name in enumerate(name for names in cifar10.PARTS.values() for name in names):
            records = rng.integers(0, 256, (3, 3073)).astype(np.uint8)
            records[:, 0] = (number, 1, 2)
            records[0, 1 : 1 + 1024] = number  # the red of the first picture
            member = tarfile.TarInfo(name)
            member.size = records.nbytes
            tar.addfile(member, io.BytesIO(records.tobytes()))
    return folder


def test_the_published_archive_becomes_arrays(published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = published / cifar10.ARCHIVE
    with site(published) as address:
        monkeypatch.setattr(cifar10, "SITE", address)
        monkeypatch.setattr(cifar10, "CHECKSUM", f"md5:{hashlib.md5(archive.read_bytes()).hexdigest()}")
        cifar10.fetch(tmp_path / "raw")
    arrays = {path.stem: np.load(path) for path in (tmp_path / "raw").iterdir()}
    assert {name: array.shape for name, array in arrays.items()} == {
        "train_images": (15, 32, 32, 3),
        "train_labels": (15,),
        "test_images": (3, 32, 32, 3),
        "test_labels": (3,),
    }
    assert arrays["train_labels"].tolist() == [0, 1, 2, 1, 1, 2, 2, 1, 2, 3, 1, 2, 4, 1, 2]
    assert (arrays["train_images"][6, :, :, 0] == 2).all()
    assert arrays["test_labels"].tolist() == [5, 1, 2]


def test_another_archive_is_refused(published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("podium.data.fetch.http_download.ATTEMPTS", 1)
    with site(published) as address:
        monkeypatch.setattr(cifar10, "SITE", address)
        with pytest.raises(DownloadError, match="damaged"):
            cifar10.fetch(tmp_path / "raw")


def test_an_archive_without_a_batch_is_named(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "empty.tar.gz", "w:gz"):
        pass
    with pytest.raises(RawDataError, match=r"has no file cifar-10-batches-bin/data_batch_1\.bin"):
        cifar10.unpack(tmp_path / "empty.tar.gz", tmp_path)


@pytest.mark.research
@needs_torch
def test_the_starter_learns_in_the_sandbox(place: DataFolder, tmp_path: Path, data_dir: Path) -> None:
    row = play("cifar10", tmp_path / "run", data_dir)
    assert "in the end: validation accuracy" in Steps(row.folder).observation(1).text
    assert row.record.valid, row.record.error
    assert 0.05 < float(row.record.score or 0) < 1  # at its learning rate it now and then learns nothing
