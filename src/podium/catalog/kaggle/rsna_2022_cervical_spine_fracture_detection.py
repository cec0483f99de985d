"""RSNA 2022: which vertebrae of the neck are fractured?"""

import random
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import dicom, link_file, link_tree, read_csv, write_bytes, write_csv, write_parts
from podium.metrics import weighted_log_loss
from podium.task import Columns, Number, competition

ID = "StudyInstanceUID"
TARGETS = ["patient_overall", *(f"C{number}" for number in range(1, 8))]
SHARE = 0.1

task = competition(
    "rsna-2022-cervical-spine-fracture-detection",
    title="RSNA 2022 Cervical Spine Fracture Detection",
    kind="medical image classification",
    metric=weighted_log_loss.using(weights=[7.0] + [1.0] * 7, positive=2.0),
    submission=Columns(id="row_id", target="fractured", values=Number(0, 1), answers="answers.csv"),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path, *, fixed: bool = False) -> None:
    # As in MLE-bench: a tenth of the studies is for training, not for testing, and boxes and segmentations come only
    # with studies that were drawn for the sake of them.
    studies, boxes = read_csv(raw / "train.csv"), read_csv(raw / "train_bounding_boxes.csv")
    masks = {path.stem: path for path in sorted((raw / "segmentations").glob("*.nii"))}
    both, masked, boxed, others = _draw(list(studies[ID]), sorted(boxes[ID].unique()), list(masks))
    drawn = [*both, *masked, *boxed, *others]
    known = studies[ID].isin(drawn) != fixed
    train = set(studies[ID][known])
    write_csv(boxes[boxes[ID].isin(train if fixed else both + boxed)], public / "train_bounding_boxes.csv")
    for study in train.intersection(masks) if fixed else both + masked:
        link_file(masks[study], public / "segmentations" / masks[study].name)
    for study in studies[ID]:
        folder = "train_images" if study in train else "test_images"
        link_tree(raw / "train_images" / study, public / folder / study)
    answers = studies[~known].melt(ID, TARGETS, "prediction_type", "fractured")
    answers["row_id"] = answers[ID] + "_" + answers["prediction_type"]
    write_parts(task.form, (studies[known], answers), public, private, guess=0.5, hidden="fractured")


def _draw(studies: list[str], boxed: list[str], masked: list[str]) -> list[list[str]]:
    """Return a tenth of the studies, drawn separately by the presence of boxes and segmentations."""
    draw = random.Random(0)
    with_both = [study for study in boxed if study in masked]
    drawn = [draw.sample(with_both, round(SHARE * len(with_both)))]
    for group in (masked, boxed):
        candidates = [study for study in group if study not in with_both]
        drawn.append(draw.sample(candidates, round(SHARE * len(group)) - len(drawn[0])))
    candidates = [study for study in studies if not any(study in some for some in drawn)]
    drawn.append(draw.sample(candidates, round(SHARE * len(studies)) - sum(map(len, drawn))))
    return drawn


@task.score
def score(answers: pd.DataFrame, submission: pd.DataFrame) -> float:
    both = answers.assign(predicted=submission["fractured"]).pivot(index=ID, columns="prediction_type")
    return task.metric(both["fractured"][TARGETS], both["predicted"][TARGETS])


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    studies = [f"1.2.826.0.1.3680043.{number}" for number in rng.choice(33_000, 60, replace=False)]
    broken = (rng.random((60, 7)) < 0.12).astype(int)
    labels = np.column_stack([broken.max(axis=1), broken])
    write_csv(pd.DataFrame(labels, studies, TARGETS).rename_axis(ID).reset_index(), raw / "train.csv")
    for study, breaks in zip(studies, broken, strict=True):
        scan = dicom(rng.integers(0, 90, (7, 7)) + 90 * breaks[:, None])
        write_bytes(raw / "train_images" / study / "1.dcm", scan)
    boxes = pd.DataFrame({ID: np.repeat(studies[:30], 2)})
    boxes[["x", "y", "width", "height"]] = rng.uniform(20, 300, (60, 4))
    write_csv(boxes.assign(slice_number=1), raw / "train_bounding_boxes.csv")
    for study in studies[20:45]:
        write_bytes(raw / "segmentations" / f"{study}.nii", rng.bytes(48))


task.fixed(
    "A tenth of the studies is for testing instead of training; boxes and segmentations come with all that have them.",
    prepare=partial(prepare, fixed=True),
)
