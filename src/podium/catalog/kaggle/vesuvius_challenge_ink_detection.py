"""Vesuvius Challenge, Ink Detection: where is there ink on a papyrus that cannot be unrolled?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import link_files, link_tree, picture_of, pixels_of, read_csv, write_bytes, write_csv
from podium.errors import InvalidSubmission
from podium.grading.check_submission import name_rows
from podium.metrics import rle_f_beta
from podium.metrics.run_length import write_runs
from podium.task import Columns, competition

LABELS = "inklabels_rle.csv"

task = competition(
    "vesuvius-challenge-ink-detection",
    title="Vesuvius Challenge - Ink Detection",
    kind="image segmentation",
    metric=rle_f_beta.using(beta=0.5, title="F0.5"),
    submission=Columns(id="Id", target="Predicted", values=str, extra_columns=False, answers=LABELS),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    for fragment in ("1", "2"):
        link_tree(raw / "train" / fragment, public / "train" / fragment)
    third = raw / "train" / "3"
    link_files(third, public / "test" / "a", ["mask.png"])
    link_tree(third / "surface_volume", public / "test" / "a" / "surface_volume")
    gold = read_csv(third / LABELS).assign(Id="a")
    height, width = pixels_of(third / "ir.png").shape
    write_csv(gold.assign(Predicted="1 1 5 1"), public / "sample_submission.csv")
    write_csv(gold, private / "gold_submission.csv")
    write_csv(gold.assign(width=width, height=height), private / LABELS)


@task.score
def score(answers: pd.DataFrame, submission: pd.DataFrame) -> float:
    # As in MLE-bench: white space is an empty mask, a blank cell is none at all.
    if submission["Predicted"].eq("").any():
        raise InvalidSubmission("Column 'Predicted' is blank; runs are expected (or a single blank for no ink).")
    size = (answers["width"] * answers["height"]).to_numpy()
    return task.metric.using(size=size, names=name_rows(answers[["Id"]]))(answers["Predicted"], submission["Predicted"])


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    for fragment, (height, width) in {1: (32, 25), 2: (40, 28), 3: (27, 38)}.items():
        folder = raw / "train" / str(fragment)
        rows, columns = np.indices((height, width))
        ink = np.abs(rows - height / 2 - 8 * np.sin(columns / 4 + rng.uniform(0, 6))) < 2
        for name, pixels in {"inklabels": 255 * ink, "mask": np.full_like(rows, 255), "ir": 160 - 90 * ink}.items():
            write_bytes(folder / f"{name}.png", picture_of(pixels))
        for depth in range(65):
            density = 20_000 + 9_000 * ink * (abs(depth - 32) < 4) + rng.integers(0, 8_000, ink.shape)
            slice_file = folder / "surface_volume" / f"{depth:02d}.tif"
            write_bytes(slice_file, picture_of(density, ".tif", dtype=np.uint16))
        write_csv(pd.DataFrame({"Id": [fragment], "Predicted": [write_runs(ink)]}), folder / LABELS)
