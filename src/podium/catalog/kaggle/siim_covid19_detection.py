"""SIIM COVID-19 Detection: how does pneumonia show in a chest radiograph, and where?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import hex_ids, link_tree, read_csv, split_rows, write_bytes, write_csv
from podium.metrics import box_map
from podium.task import Columns, competition

APPEARANCES = ["Negative for Pneumonia", "Typical Appearance", "Indeterminate Appearance", "Atypical Appearance"]

task = competition(
    "siim-covid19-detection",
    title="SIIM-FISABIO-RSNA COVID-19 Detection",
    kind="object detection",
    metric=box_map.using(iou=0.5, title="mAP at IoU 0.5"),
    submission=Columns(id="id", target="PredictionString", values=str),
    known_leaks="Rows of studies stand before those of images, as their ids say.",
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    studies, images = read_csv(raw / "train_study_level.csv"), read_csv(raw / "train_image_level.csv").sort_values("id")
    train, test = (part.sort_values("id") for part in split_rows(studies, 0.1))
    held = (images["StudyInstanceUID"] + "_study").isin(test["id"])
    write_csv(train, public / "train_study_level.csv")
    write_csv(images[~held], public / "train_image_level.csv")
    words = np.array([name.split()[0].lower() for name in APPEARANCES])
    labels = words[test[APPEARANCES].to_numpy().argmax(axis=1)]
    per_study = pd.DataFrame({"id": test["id"], "PredictionString": labels + " 1 0 0 1 1"})
    per_image = images[held][["id", "label"]].rename(columns={"label": "PredictionString"})
    write_csv(pd.concat([per_study, per_image]), private / "test.csv")
    sample = [per_study.assign(PredictionString="negative 1 0 0 1 1")]
    sample += [per_image.assign(PredictionString="none 1 0 0 1 1")]
    write_csv(pd.concat(sample), public / "sample_submission.csv")
    for part, table in (("train", train), ("test", test)):
        for study in table["id"].str.removesuffix("_study"):
            link_tree(raw / "train" / study, public / part / study)


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    names = np.array(hex_ids(rng, 450)).reshape(3, 150)
    kinds = np.append(rng.choice(4, 146, p=[0.3, 0.4, 0.2, 0.1]), range(4))
    studies = pd.DataFrame(np.eye(4, dtype=int)[kinds], columns=APPEARANCES)
    studies.insert(0, "id", [f"{study}_study" for study in names[0]])
    write_csv(studies, raw / "train_study_level.csv")
    images = []
    for study, series, image, kind in zip(*names, kinds, strict=True):
        x, y, width, height = rng.integers((0, 0, 300, 300), (900, 900, 900, 1200)).tolist()
        noise = rng.integers(60 * kind, 60 * kind + 60, 64).astype(np.uint8).tobytes()
        write_bytes(raw / "train" / study / series / f"{image}.dcm", bytes(128) + b"DICM" + noise)
        box = {"x": x, "y": y, "width": width, "height": height}
        found = (str([box]), f"opacity 1 {x} {y} {x + width} {y + height}") if kind else ("", "none 1 0 0 1 1")
        images.append((f"{image}_image", *found, study))
    columns = ["id", "boxes", "label", "StudyInstanceUID"]
    write_csv(pd.DataFrame(images, columns=columns), raw / "train_image_level.csv")


task.fixed(
    "A missed box stays missed, and confidences must be above 0; v1 counts missed boxes as found with confidence 0.",
    metric=task.metric.using(misses_found=False),
)
