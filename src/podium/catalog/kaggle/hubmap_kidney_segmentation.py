"""HuBMAP, Hacking the Kidney: where are the glomeruli in a slide of kidney tissue?"""

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import link_files, picture_of, read_csv, sample_of, split_rows, write_csv, write_json
from podium.data.fabricate import hex_ids, write_bytes
from podium.grading.check_submission import name_rows
from podium.metrics import rle_dice
from podium.metrics.run_length import write_runs
from podium.task import Columns, competition

INFORMATION = "HuBMAP-20-dataset_information.csv"
SUFFIXES = [".tiff", ".json", "-anatomical-structure.json"]
DONOR = {"patient_number": 63921, "race": "White", "ethnicity": "Not Hispanic or Latino", "sex": "Male", "age": 58}
DONOR |= {"weight_kilograms": 75.2, "height_centimeters": 160.0, "bmi_kg/m^2": 28.7, "laterality": "Left"}
DONOR |= {"percent_cortex": 80, "percent_medulla": 20}

task = competition(
    "hubmap-kidney-segmentation",
    title="HuBMAP - Hacking the Kidney",
    kind="image segmentation",
    metric=rle_dice.using(title="Mean Dice"),
    submission=Columns(id="id", target="predicted", values=str, answers_target="encoding"),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path, *, of_test: list[str] = SUFFIXES) -> None:
    labels, slides = read_csv(raw / "train.csv"), read_csv(raw / INFORMATION)
    train, test = split_rows(labels, 3)
    slides.insert(0, "id", slides["image_file"].str.removesuffix(".tiff"))
    write_csv(train, public / "train.csv")
    write_csv(slides[slides["id"].isin(labels["id"])].drop(columns="id"), public / INFORMATION)
    sample = sample_of(test, "id", predicted="")
    write_csv(sample, public / "sample_submission.csv")
    write_csv(sample, public / "test" / "sample_submission.csv")
    write_csv(test.merge(slides[["id", "width_pixels", "height_pixels"]], on="id"), private / "test.csv")
    write_csv(sample.assign(predicted=test["encoding"]), private / "gold_submission.csv")
    for part, table, suffixes in (("train", train, SUFFIXES), ("test", test, of_test)):
        link_files(raw / "train", public / part, [name + suffix for name in table["id"] for suffix in suffixes])


@task.score
def score(answers: pd.DataFrame, submission: pd.DataFrame) -> float:
    sizes = (answers["width_pixels"] * answers["height_pixels"]).to_numpy()
    return task.metric.using(size=sizes, names=name_rows(answers[["id"]]))(answers["encoding"], submission["predicted"])


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    labels, slides = [], []
    for name in hex_ids(rng, 15, 9):  # the real number, too
        height, width = rng.integers(20, 40, 2).tolist()
        top, left = int(rng.integers(height - 8)), int(rng.integers(width - 8))
        mask = np.zeros((height, width), dtype=bool)
        mask[top : top + 7, left : left + 7] = True
        pixels = rng.normal(200, 10, (height, width, 3)) - 60 * mask[:, :, None]
        write_bytes(raw / "train" / f"{name}.tiff", picture_of(pixels, ".tiff"))
        square = [[left, top], [left + 7, top], [left + 7, top + 7], [left, top + 7], [left, top]]
        for suffix, kind in zip(SUFFIXES[1:], ("glomerulus", "Cortex"), strict=True):
            shape = {"type": "Feature", "geometry": {"type": "Polygon", "coordinates": [square]}}
            write_json([shape | {"properties": {"classification": {"name": kind}}}], raw / "train" / f"{name}{suffix}")
        labels.append({"id": name, "encoding": write_runs(mask.T)})
        slides.append((f"{name}.tiff", width, height, *(name + suffix for suffix in SUFFIXES[:0:-1]), *DONOR.values()))
    write_csv(pd.DataFrame(labels), raw / "train.csv")
    columns = ["image_file", "width_pixels", "height_pixels", "anatomical_structures_segmention_file"]
    columns += ["glomerulus_segmentation_file", *DONOR]
    write_csv(pd.DataFrame(slides, columns=columns), raw / INFORMATION)


task.fixed(
    "The public folder of v1 holds the outlines of the glomeruli of the test slides, which are the answers.",
    prepare=partial(prepare, of_test=[".tiff", "-anatomical-structure.json"]),
)
