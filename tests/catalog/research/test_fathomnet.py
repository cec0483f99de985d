"""FathomNet: a score that means something beside one that does not, pictures fetched one by one."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from trials import grade, needs_torch, play, prepare, site

from podium.catalog.research import fathomnet
from podium.data.home import DataFolder
from podium.errors import DownloadError, RawDataError
from podium.runs.steps import Steps

TASK = "fathomnet"


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def place(data_dir: Path) -> DataFolder:
    prepare(TASK, data_dir, "v1")
    return prepare(TASK, data_dir)


@pytest.fixture
def answers(place: DataFolder) -> pd.DataFrame:
    return pd.read_csv(place.private / "answer.csv")


@pytest.fixture
def perfect(answers: pd.DataFrame) -> pd.DataFrame:
    """In the documented form."""
    plain = answers["categories"].str.replace(r"[\[\],]|\.0", "", regex=True)
    return answers[["id"]].assign(categories=plain, osd=0.5)


def test_test_pictures_are_shown_without_boxes_and_labels(place: DataFolder, answers: pd.DataFrame) -> None:
    known = pd.read_csv(place.public / "multilabel_classification" / "train.csv")
    assert (len(known), len(answers)) == (196, 4)
    assert not set(known["id"]) & set(answers["id"])
    boxes = json.loads((place.public / "object_detection" / "train.json").read_text())
    shown = json.loads((place.public / "object_detection" / "eval.json").read_text())
    assert [image["file_name"] for image in boxes["images"]] == [f"{name}.png" for name in known["id"]]
    assert [image["id"] for image in boxes["images"]] == list(range(1, 197))
    assert [box["id"] for box in boxes["annotations"]] == list(range(1, len(boxes["annotations"]) + 1))
    assert {image["file_name"] for image in shown["images"]} == {f"{name}.png" for name in answers["id"]}
    assert shown["annotations"] == []
    assert len(list((place.public / "images").iterdir())) == 200


def test_boxes_stay_with_their_pictures(place: DataFolder) -> None:
    known = pd.read_csv(place.public / "multilabel_classification" / "train.csv").set_index("id")["categories"]
    boxes = json.loads((place.public / "object_detection" / "train.json").read_text())
    names = {image["id"]: Path(image["file_name"]).stem for image in boxes["images"]}
    found: dict[str, list[float]] = {}
    for box in boxes["annotations"]:
        found.setdefault(names[box["image_id"]], []).append(float(box["category_id"]))
    assert {name: str(sorted(categories)) for name, categories in found.items()} == known.to_dict()


def test_a_better_submission_scores_better(
    place: DataFolder, perfect: pd.DataFrame, tmp_path: Path, data_dir: Path
) -> None:
    """Nearest neighbours by colour beat the usual categories, which beat nothing."""
    known = pd.read_csv(place.public / "multilabel_classification" / "train.csv")

    def histogram(name: str) -> np.ndarray:
        pixels = np.asarray(Image.open(place.public / "images" / f"{name}.png")) // 32
        bright = pixels[pixels.max(axis=2) > 2]
        counts = np.bincount(bright @ [64, 8, 1], minlength=512)
        return np.sqrt(counts / max(1, counts.sum()))

    train = np.stack([histogram(name) for name in known["id"]])
    rows = []
    for name in perfect["id"]:
        near = np.argsort(-(train @ histogram(name)))[:5]
        items = " ".join(known["categories"][near].str.replace(r"[\[\],]", "", regex=True)).split()
        rows.append(" ".join(pd.Series(items).value_counts().index))
    usual = pd.read_csv(place.public / "sample_submission.csv")
    tables = [perfect.assign(categories=""), usual, perfect.assign(categories=rows), perfect]
    scores = [grade(TASK, table, tmp_path, data_dir).score or 0 for table in tables]
    assert scores[0] == 0
    assert scores[0] < scores[1] < scores[2] < scores[3] == 1.0


def test_v1_never_matches_the_documented_form(
    answers: pd.DataFrame, perfect: pd.DataFrame, tmp_path: Path, data_dir: Path
) -> None:
    """A perfect submission gains nothing over an empty one: its items read `9`, those of the truth `9.0]`."""
    nothing = perfect.assign(categories="")
    assert grade(TASK, perfect, tmp_path, data_dir, "v1").score == 0.0
    assert grade(TASK, nothing, tmp_path, data_dir, "v1").score == 0.0
    copied = perfect.assign(categories=answers["categories"])
    assert grade(TASK, copied, tmp_path, data_dir, "v1").score == 0.5
    assert grade(TASK, perfect, tmp_path, data_dir).score == 1.0


def test_v1_scores_osd_against_a_draw(perfect: pd.DataFrame, tmp_path: Path, data_dir: Path) -> None:
    """Submissions that differ only in what does not matter, and that are equally good, score all over the range."""
    rng = np.random.default_rng(0)
    guesses = [perfect.assign(osd=rng.random(len(perfect))) for _ in range(30)]
    scores = [grade(TASK, table, tmp_path, data_dir, "v1").score or 0 for table in guesses]
    assert max(scores) > 0.2
    assert min(scores) < -0.2
    assert {grade(TASK, table, tmp_path, data_dir).score for table in guesses} == {1.0}
    assert grade(TASK, guesses[0], tmp_path, data_dir, "v1").score == scores[0], "a run could not be verified"


def test_osd_is_optional_in_the_fixed_edition(perfect: pd.DataFrame, tmp_path: Path, data_dir: Path) -> None:
    short = perfect.drop(columns="osd")
    assert grade(TASK, short, tmp_path, data_dir).score == 1.0
    assert "Column 'osd' is missing" in str(grade(TASK, short, tmp_path, data_dir, "v1").error)


@pytest.mark.parametrize(
    ("cell", "fault"),
    [
        ("1 urchin", "'urchin' is not a category number"),
        ("1;2", "'1;2' is not a category number"),
        ("1.5", "'1.5' is not a category number"),
        ("-1", "'-1' is not a category number"),
        ("1e3", "'1e3' is not a category number"),
        ("9" * 5000, "is not a category number"),
        ("__import__('os')", "is not a category number"),
    ],
)
def test_categories_that_are_no_numbers_are_refused(
    perfect: pd.DataFrame, tmp_path: Path, data_dir: Path, cell: str, fault: str
) -> None:
    result = grade(TASK, perfect.assign(categories=cell), tmp_path, data_dir)
    assert not result.valid
    assert fault in str(result.error)
    assert str(perfect["id"][0]) in str(result.error)


def test_the_form_of_the_train_table_counts_too(
    answers: pd.DataFrame, perfect: pd.DataFrame, tmp_path: Path, data_dir: Path
) -> None:
    copied = perfect.assign(categories=answers["categories"])
    assert grade(TASK, copied, tmp_path, data_dir).score == 1.0


def test_ids_must_match(perfect: pd.DataFrame, tmp_path: Path, data_dir: Path) -> None:
    for edition in ("v1", "fixed"):
        assert "1 id is missing" in str(grade(TASK, perfect.iloc[1:], tmp_path, data_dir, edition).error)


@pytest.fixture
def unfetched(place: DataFolder, tmp_path: Path) -> tuple[Path, Path]:
    """A raw folder whose pictures have yet to be fetched, and the folder of the site that has them."""
    shelf, raw = place.raw / "images", tmp_path / "raw"
    images = [{"file_name": path.name} for path in sorted(shelf.iterdir())[:20]]
    (raw / "object_detection").mkdir(parents=True)
    (raw / fathomnet.BOXES).write_text(json.dumps({"images": images}))
    return raw, shelf


def with_address(raw: Path, address: str) -> None:
    document = json.loads((raw / fathomnet.BOXES).read_text())
    images = [image | {"coco_url": f"{address}/{image['file_name']}"} for image in document["images"]]
    (raw / fathomnet.BOXES).write_text(json.dumps({"images": images}))


def test_pictures_are_fetched_from_their_addresses(unfetched: tuple[Path, Path]) -> None:
    raw, shelf = unfetched
    with site(shelf) as address:
        with_address(raw, address)
        (raw / "images").mkdir()
        here = next(shelf.iterdir()).name
        fathomnet.fetch_images(raw)
        (raw / "images" / here).unlink(missing_ok=True)
        fathomnet.fetch_images(raw)
    fetched = sorted((raw / "images").iterdir())
    assert len(fetched) == 20
    assert all(path.read_bytes() == (shelf / path.name).read_bytes() for path in fetched)


def test_what_is_no_picture_is_not_kept(unfetched: tuple[Path, Path], tmp_path: Path) -> None:
    raw, shelf = unfetched
    names = [image["file_name"] for image in json.loads((raw / fathomnet.BOXES).read_text())["images"]]
    unwell = tmp_path / "unwell"
    unwell.mkdir()
    for name in names:
        (unwell / name).write_bytes((shelf / name).read_bytes())
    (unwell / names[0]).write_text("<html>We will be back soon</html>")
    (unwell / names[1]).write_bytes((shelf / names[1]).read_bytes()[:-500])
    with site(unwell) as address:
        with_address(raw, address)
        with pytest.raises(DownloadError, match=r"2 of 20 files could not be downloaded.*not a valid image"):
            fathomnet.fetch_images(raw, pause_s=0)
    assert len(list((raw / "images").iterdir())) == 18


def test_names_that_lead_out_of_the_folder_are_refused(unfetched: tuple[Path, Path]) -> None:
    raw, _ = unfetched
    (raw / fathomnet.BOXES).write_text(json.dumps({"images": [{"file_name": "../x.png", "coco_url": "http://x"}]}))
    with pytest.raises(RawDataError, match=r"'\.\./x\.png' is not a valid file name of an image"):
        fathomnet.fetch_images(raw)


@pytest.mark.research
@needs_torch
def test_the_starter_runs_in_the_sandbox(place: DataFolder, tmp_path: Path, data_dir: Path) -> None:
    row = play(TASK, tmp_path / "run", data_dir)
    assert "epoch 1: loss" in Steps(row.folder).observation(1).text, Steps(row.folder).observation(1).text
    assert row.record.valid, row.record.error
    rows = pd.read_csv(row.folder.submission, keep_default_na=False)
    assert rows["categories"].nunique() == 1
