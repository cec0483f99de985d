"""Statoil/C-CORE: is the bright spot in a radar picture a ship or an iceberg?"""

import json
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import hex_ids, opened_member, sample_of, split_rows, write_7z, write_csv
from podium.metrics import log_loss
from podium.task import Columns, Number, competition

SAMPLE = "sample_submission.csv"

task = competition(
    "statoil-iceberg-classifier-challenge",
    title="Statoil/C-CORE Iceberg Classifier Challenge",
    kind="image classification",
    metric=log_loss,
    submission=Columns(id="id", target="is_iceberg", values=Number(0, 1), sample=f"{SAMPLE}.7z"),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path, *, with_angle: bool = False) -> None:
    with opened_member(raw / "train.json.7z") as file:
        train, test = split_rows(json.load(file), 0.2)
    if with_angle:
        train += [scene for scene in test if scene["inc_angle"] == "na"]
        test = [scene for scene in test if scene["inc_angle"] != "na"]
    shown = [{name: value for name, value in scene.items() if name != "is_iceberg"} for scene in test]
    for scenes, name in ((train, "train.json"), (shown, "test.json")):
        write_7z(public / f"{name}.7z", [(name, json.dumps(scenes).encode())])
    answers = pd.DataFrame(test)[["id", "is_iceberg"]]
    write_csv(answers, private / "test.csv")
    write_csv(sample_of(answers, "id", is_iceberg=0.5), private / SAMPLE)
    write_7z(public / f"{SAMPLE}.7z", [(SAMPLE, private / SAMPLE)])


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    scenes = []
    for name in hex_ids(rng, 120, 8):
        iceberg = int(rng.random() < 0.47)
        bands = {f"band_{band}": rng.normal(3 * iceberg - 20, 4, 64).round(4).tolist() for band in (1, 2)}
        angle = "na" if not iceberg and rng.random() < 0.2 else round(rng.uniform(25, 46), 4)
        scenes.append({"id": name, **bands, "inc_angle": angle, "is_iceberg": iceberg})
    write_7z(raw / "train.json.7z", [("data/processed/train.json", json.dumps(scenes).encode())])


task.fixed(
    "Scenes whose angle is unknown, which gives ships away, are for training only, as they were on Kaggle.",
    prepare=partial(prepare, with_angle=True),
)
