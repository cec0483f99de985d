"""UW-Madison GI Tract: where are stomach and bowels in the slices of an abdominal scan?"""

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import link_tree, picture_of, read_csv, split_rows, write_bytes, write_csv, write_parts
from podium.grading.check_submission import name_rows
from podium.metrics import dice_hausdorff
from podium.metrics.run_length import write_runs
from podium.task import Columns, competition

FIRST_DAYS = 4
"""Days of a training case that stay with it; later ones are test."""


task = competition(
    "uw-madison-gi-tract-image-segmentation",
    title="UW-Madison GI Tract Image Segmentation",
    kind="image segmentation",
    metric=dice_hausdorff.using(most_times=10, title="0.4 Dice + 0.6 (1 - 3D Hausdorff)"),
    submission=Columns(id=("id", "class"), target="predicted", values=str),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    table = read_csv(raw / "train.csv")
    parts = table["id"].str.extract(r"(?P<case>case\d+)_day(?P<day>\d+)").astype({"day": int})
    _, cases = split_rows(list(parts["case"].unique()), 0.1, random_state=42)
    held = parts["case"].isin(cases) | (parts.groupby("case")["day"].rank("dense") > FIRST_DAYS)
    scans = {}
    for folder, rows in held.groupby(parts["case"] + "/" + table["id"].str.split("_slice_").str[0]):
        link_tree(raw / "train" / str(folder), public / ("test" if rows.all() else "train") / str(folder))
        for scan in (raw / "train" / str(folder)).glob("scans/*"):
            number, width, height = scan.name.split("_")[1:4]
            scans[f"{scan.parts[-3]}_slice_{number}"] = (float(width), float(height))
    test = table[held].rename(columns={"segmentation": "predicted"})
    sizes = pd.DataFrame(test["id"].map(scans).tolist(), columns=["image_width", "image_height"], index=test.index)
    both, answers = (table[~held], test), test.join(sizes)
    write_parts(task.form, both, public, private, guess="1 1 5 2", hidden="predicted", answers=answers)


@task.score
def score(answers: pd.DataFrame, submission: pd.DataFrame, *, along_rows: bool = False) -> float:
    # As in MLE-bench: runs are taken to go down the columns, which distorts pictures that are not square.
    # There, rows are compared by position; here they correspond by id and class.
    ids, sides = answers["id"], answers[["image_height", "image_width"]].to_numpy(np.int64)
    day = pd.factorize(ids.str.replace(r"_slice_.*", "", regex=True))[0]
    layer = ids.groupby(day).rank("dense").to_numpy(np.int64) - 1
    metric = task.metric.using(stack=day, layer=layer, sides=sides, along_rows=along_rows)
    return metric.using(names=name_rows(answers[["id", "class"]]))(answers["predicted"], submission["predicted"])


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    rows = []
    for case in range(11):
        width, height, spacing = (14, 10, "1.63_1.63") if case % 3 else (12, 12, "1.50_1.50")
        y, x = np.mgrid[:height, :width]
        for day in range(6 if case < 2 else 2):
            name = f"case{case + 9}_day{7 * day}"
            for number in range(1, 4):
                pixels = rng.integers(0, 3000, (height, width))
                for organ in ("large_bowel", "small_bowel", "stomach"):
                    centre = rng.uniform(3, height - 3, 2)
                    mask = (np.hypot(y - centre[0], x - centre[1]) < rng.uniform(1, 4)) & (rng.random() < 0.5)
                    pixels[mask] += 9000
                    rows.append((f"{name}_slice_{number:04d}", organ, write_runs(mask)))
                scan = f"case{case + 9}/{name}/scans/slice_{number:04d}_{width}_{height}_{spacing}.png"
                write_bytes(raw / "train" / scan, picture_of(pixels, dtype=np.uint16))
    write_csv(pd.DataFrame(rows, columns=["id", "class", "segmentation"]), raw / "train.csv")


task.fixed(
    "v1 reads the runs, which go along the rows, as if they went down the columns.",
    score=partial(score, along_rows=True),
)
