"""VinBigData Chest X-ray: which abnormalities does a radiograph show, and where?"""

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import hex_ids, link_parts, read_csv, sample_of, split_rows, write_bytes, write_csv
from podium.grading.check_submission import name_rows
from podium.metrics import coco_map
from podium.task import Columns, Text, competition

CORNERS = ["x_min", "y_min", "x_max", "y_max"]
NO_FINDING = 14

task = competition(
    "vinbigdata-chest-xray-abnormalities-detection",
    title="VinBigData Chest X-ray Abnormalities Detection",
    kind="object detection",
    metric=coco_map.using(iou=0.4, title="mAP at IoU 0.4"),
    submission=Columns(
        id="image_id",
        target="PredictionString",
        values=Text(blank=False),
        repeated_rows=True,
        answers="gold_submission.csv",
    ),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    boxes = read_csv(raw / "train.csv")
    parts = split_rows(boxes[["image_id"]].drop_duplicates(), 0.1)
    link_parts(parts, raw, public, files="train/{image_id}.dicom")
    held = boxes["image_id"].isin(parts[1]["image_id"])
    write_csv(boxes[~held], public / "train.csv")
    sample = sample_of(parts[1], "image_id", PredictionString=f"{NO_FINDING} 1 0 0 1 1")
    write_csv(sample, public / "sample_submission.csv")
    # As in MLE-bench: of the boxes of a class in an image, one counts.
    answers = boxes[held].groupby(["image_id", "class_id"], as_index=False).first()
    answers[CORNERS] = answers[CORNERS].fillna(0)
    answers.loc[answers["class_id"] == NO_FINDING, ["x_max", "y_max"]] = 1.0
    write_csv(answers[["image_id", "class_id", "class_name", "rad_id", *CORNERS]], private / "answers.csv")
    texts = answers.assign(confidence=1.0)[["class_id", "confidence", *CORNERS]].astype(str).agg(" ".join, axis=1)
    gold = texts.groupby(answers["image_id"]).agg(" ".join).rename("PredictionString")
    write_csv(gold.reset_index(), private / "gold_submission.csv")


@task.answers
def read_answers(private: Path) -> pd.DataFrame:
    first = read_csv(private.parent / "public" / task.form.sample, nrows=1)["image_id"].item()
    gold = read_csv(private / task.form.answers)
    return gold.assign(listed_first=gold["image_id"].eq(first))


@task.score
def score(answers: pd.DataFrame, submission: pd.DataFrame, *, flawed: bool = True) -> float:
    # As in MLE-bench: the rows of an image are put together, corners are taken for sizes, and ids begin at 0, those of
    # the submission in the order of the sample.
    predicted = submission.groupby("image_id", sort=False)["PredictionString"].agg(" ".join)
    metric = task.metric.using(names=name_rows(answers[["image_id"]]))
    if flawed:
        metric = metric.using(corners=False, id_zero=int(np.argmax(answers["listed_first"])))
    return metric(answers["PredictionString"], predicted)


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    rows = []
    for name in hex_ids(rng, 200, 32):
        write_bytes(raw / "train" / f"{name}.dicom", bytes(128) + b"DICM" + rng.bytes(32))
        readers = [f"R{reader}" for reader in rng.choice(np.arange(1, 18), 3, replace=False)]
        if rng.random() < 0.4:
            rows += [(name, "No finding", NO_FINDING, reader, *[np.nan] * 4) for reader in readers]
            continue
        for kind in rng.integers(NO_FINDING, size=rng.integers(1, 5)):
            low = rng.integers(100, 1800, 2)
            box = np.concatenate([low, low + rng.integers(60, 900, 2)])
            finding = (name, f"Finding {kind}", kind)
            rows += [(*finding, reader, *(box + rng.integers(-25, 26, 4))) for reader in readers[:2]]
    table = pd.DataFrame(rows, columns=["image_id", "class_name", "class_id", "rad_id", *CORNERS])
    write_csv(table.sample(frac=1, random_state=0), raw / "train.csv")


task.fixed(
    "v1 takes the lower right corner of a box for its size and can never count one of the true boxes as found.",
    score=partial(score, flawed=False),
)
