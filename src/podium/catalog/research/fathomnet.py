"""FathomNet, MLAgentBench's way: which animals of the sea floor are in a picture?"""

import re
import uuid
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from podium.data.building_blocks import (
    link_file,
    picture_of,
    read_csv,
    read_json,
    split_in_order,
    write_answers,
    write_bytes,
    write_csv,
    write_json,
)
from podium.data.fetch.http_download import fetch_files
from podium.data.fetch.kaggle_download import download
from podium.data.formats.coco import write_document
from podium.errors import InvalidSubmission, RawDataError
from podium.grading.check_submission import clip
from podium.metrics import map_at_k, roc_auc
from podium.task import Baseline, Columns, Number, Starter, Text, research_task

COMPETITION = "fathomnet-out-of-sample-detection"
LABELS, BOXES, TEST_BOXES = (
    "multilabel_classification/train.csv",
    "object_detection/train.json",
    "object_detection/eval.json",
)
KNOWN_SHARE = 0.98
CATEGORIES = 290
map_at_20 = map_at_k.using(k=20, title="MAP@20")
FORM = Columns(id="id", target="categories", values=Text(), answers="answer.csv")
FIRST_FORM = Columns(
    id="id", target=("categories", "osd"), values={"categories": Text(), "osd": Number()}, answers="answer.csv"
)

task = research_task(
    "fathomnet",
    title="FathomNet (MLAgentBench)",
    kind="multi-label image classification",
    metric=map_at_20,
    submission=FIRST_FORM,
    starter=Starter(folder=Path(__file__).with_suffix(""), script="train.py", read_only=("metric.py",)),
)


@task.fetch
def fetch(raw: Path) -> None:
    if not (raw / BOXES).exists():
        download(COMPETITION, raw)
    fetch_images(raw)


def fetch_images(raw: Path, **options: Any) -> None:
    """Download the pictures that the COCO document names; Kaggle does not have them."""
    images = read_json(raw / BOXES)["images"]
    urls = {image["file_name"]: image["coco_url"] for image in images}
    odd = [name for name in urls if Path(name).name != name]
    if odd:
        raise RawDataError(f"{BOXES} is damaged: '{clip(odd[0])}' is not a valid file name of an image.")
    fetch_files(urls, raw / "images", check=_check_picture, **options)


def _check_picture(path: Path) -> None:
    """Raise ValueError for a file that is not a complete image, such as a site's error page."""
    from PIL import Image

    try:
        with Image.open(path) as image:
            image.load()
    except (OSError, SyntaxError, Image.DecompressionBombError) as error:
        raise ValueError(f"the download is not a valid image: {error}") from error


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    labels = read_csv(raw / LABELS).sample(frac=1, random_state=42)
    known, hidden = split_in_order(labels, KNOWN_SHARE)
    write_csv(known, public / LABELS)
    frequent = Counter(item for cell in known["categories"] for item in _numbers(cell))
    usual = " ".join(item for item, _ in frequent.most_common(20))
    write_answers(FIRST_FORM, hidden, public, private, guess={"categories": usual, "osd": 0.5})
    document = read_json(raw / BOXES)
    images = {Path(image["file_name"]).stem: image for image in document["images"]}
    lost = [name for name in labels["id"] if name not in images]
    if lost:
        raise RawDataError(f"{len(lost)} of the images in {LABELS} are missing from {BOXES}, such as {lost[0]}.")
    write_document(_part(document, [images[name] for name in known["id"]]), public / BOXES)
    unlabelled = document | {"annotations": []}
    write_document(_part(unlabelled, [images[name] for name in hidden["id"]]), public / TEST_BOXES)
    link_file(raw / "category_key.csv", public / "category_key.csv")
    for name in labels["id"]:
        file_name = images[name]["file_name"]
        link_file(raw / "images" / file_name, public / "images" / file_name)


def _part(document: dict[str, Any], images: list[dict[str, Any]]) -> dict[str, Any]:
    """Return some of the images with their annotations, both numbered from 1."""
    numbers = {image["id"]: number for number, image in enumerate(images, 1)}
    boxes = [box for box in document["annotations"] if box["image_id"] in numbers]
    return document | {
        "images": [image | {"id": numbers[image["id"]]} for image in images],
        "annotations": [
            box | {"id": number, "image_id": numbers[box["image_id"]]} for number, box in enumerate(boxes, 1)
        ],
    }


@task.score
def score_first(answers: pd.DataFrame, submission: pd.DataFrame) -> float:
    """Return 0.5 (MAP@20 + 2 AUC - 1) as computed by the original, which is nearly meaningless.

    The truth reads `[1.0, 9.0]` and is cut at its blanks, into `[1.0,` and `9.0]`: a submission in the documented form,
    `1 9`, has no item in common with it. And no training picture is known to be out of sample, so the original draws
    that truth at random at each evaluation. Here the draw depends on the submission alone, so that a run can be
    verified; it is no less arbitrary.
    """
    rng = np.random.default_rng(zlib.crc32(submission.to_csv(index=False).encode()))
    out_of_sample = rng.integers(0, 2, len(answers))
    while out_of_sample.min() == out_of_sample.max() and len(answers) > 1:  # one class only has no AUC
        out_of_sample = rng.integers(0, 2, len(answers))
    precision = map_at_20(answers["categories"], submission["categories"])
    return 0.5 * (precision + 2 * roc_auc(out_of_sample, submission["osd"]) - 1)


def score_fixed(answers: pd.DataFrame, submission: pd.DataFrame) -> float:
    """Return MAP@20 over category numbers, in the documented form or in that of the train table."""
    predicted = []
    for name, cell in zip(submission["id"], submission["categories"], strict=True):
        try:
            predicted.append(" ".join(_numbers(cell)))
        except ValueError as error:
            raise InvalidSubmission(
                f"Column 'categories', id {clip(name)}: {error}; numbers separated by blanks are expected, the most "
                "probable first."
            ) from error
    return map_at_20([" ".join(_numbers(cell)) for cell in answers["categories"]], predicted)


def _numbers(cell: str) -> list[str]:
    """Return the categories of a cell, whether it says `1 9` or `[1.0, 9.0]`."""
    items = re.sub(r"[\[\],]", " ", cell).split()
    for item in items:
        if not re.fullmatch(r"[0-9]{1,9}(\.0*)?", item):
            raise ValueError(f"'{clip(item)}' is not a category number")
    return [str(int(float(item))) for item in items]


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    """Fabricate blobs on a dark ground; categories differ in colour, size and frequency."""
    key = [{"id": n, "name": f"Species {n}", "supercategory": f"Group {n % 20}"} for n in range(1, CATEGORIES + 1)]
    write_csv(pd.DataFrame(key).rename(columns={"supercategory": "supercat"}), raw / "category_key.csv")
    seen = rng.choice(CATEGORIES, 24, replace=False) + 1
    colours, sizes = rng.integers(40, 256, (24, 3)), rng.uniform(5, 14, 24)
    popularity = 1 / np.arange(1, 25)
    images: list[dict[str, Any]] = []
    boxes: list[dict[str, Any]] = []
    rows = []
    for number in range(1, 201):
        name = str(uuid.UUID(bytes=rng.bytes(16), version=4))
        kinds = rng.choice(24, rng.integers(1, 5), replace=False, p=popularity / popularity.sum())
        pixels = rng.integers((0, 10, 40), (40, 50, 80), (72, 96, 3))
        for kind in kinds:
            corner = rng.uniform(0, (72 - sizes[kind], 96 - sizes[kind]))
            inside = np.hypot(*(np.mgrid[:72, :96] - (corner + sizes[kind] / 2)[:, None, None])) < sizes[kind] / 2
            pixels[inside] = colours[kind] + rng.integers(-20, 20, (inside.sum(), 3))
            box = np.round([*corner[::-1], sizes[kind], sizes[kind]], 1).tolist()
            boxes.append({"id": len(boxes) + 1, "image_id": number, "category_id": int(seen[kind]), "bbox": box})
        write_bytes(raw / "images" / f"{name}.png", picture_of(pixels))
        url = f"https://fathomnet.org/static/m3/framegrabs/miniature/{name}.png"
        images.append({"id": number, "width": 96, "height": 72, "file_name": f"{name}.png", "coco_url": url})
        rows.append({"id": name, "categories": str(sorted(float(seen[kind]) for kind in kinds))})
    write_csv(pd.DataFrame(rows), raw / LABELS)
    document = {"info": {"description": "A miniature"}, "licenses": [], "categories": key, "images": images}
    write_json(document | {"annotations": boxes}, raw / BOXES)


task.fixed(
    "Categories count in the documented form. The out-of-sample half of the score is left out: the test pictures are a "
    "random part of the training pictures, none of which has such a label, and the original draws one at random.",
    score=score_fixed,
    submission=FORM,
)
task.editions["v1"].metric = map_at_20.using(title="Mean of MAP@20 and 2 AUC - 1")
# What the original takes for the score of its starter, so that anything at all is better.
task.editions["v1"].reference = Baseline(1e-10)
