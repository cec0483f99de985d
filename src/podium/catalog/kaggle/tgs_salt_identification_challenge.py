"""TGS Salt Identification: which part of a seismic image is salt?"""

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import (
    hex_ids,
    link_files,
    link_parts,
    picture_of,
    read_csv,
    split_rows,
    write_csv,
    write_parts,
)
from podium.data.formats.archives import unpacked, write_zip
from podium.metrics import rle_iou_precision
from podium.metrics.run_length import write_runs
from podium.task import Columns, competition

SIDE = 101

task = competition(
    "tgs-salt-identification-challenge",
    title="TGS Salt Identification Challenge",
    kind="image segmentation",
    # As in MLE-bench: an empty mask counts as one that covers everything, unless there is no salt.
    metric=rle_iou_precision.using(size=SIDE**2, blank_is_all=True, title="Mean precision over IoU thresholds"),
    submission=Columns(id="id", target="rle_mask", values=str, extra_columns=False),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path, *, all_depths: bool = False) -> None:
    with unpacked(raw / "competition_data.zip", public) as folder:
        folder = folder / "competition_data"
        labels, depths = read_csv(folder / "train.csv"), read_csv(raw / "depths.csv")
        parts = [part.sort_values("id") for part in split_rows(labels, 0.25)]
        write_parts(task.form, parts, public, private, guess="1 1")
        known = labels["id"] if all_depths else parts[0]["id"]
        write_csv(depths[depths["id"].isin(known)].sort_values("id"), public / "depths.csv")
        link_parts(parts, folder, public, files="train/images/{id}.png")
        link_files(folder / "train" / "masks", public / "train" / "masks", parts[0]["id"] + ".png")


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    names = hex_ids(rng, 80, 10)
    edges = rng.integers(-40, SIDE, len(names))
    masks = [(np.indices((SIDE, SIDE)).sum(0) >= 2 * edge) & (edge % 4 > 0) for edge in edges]
    labels = pd.DataFrame({"id": names, "rle_mask": [write_runs(mask.T) for mask in masks]})
    write_csv(pd.DataFrame({"id": names, "z": rng.integers(50, 960, len(names))}), raw / "depths.csv")
    files = {"train.csv": labels.to_csv(index=False).encode()}
    for name, mask in zip(names, masks, strict=True):
        files[f"train/images/{name}.png"] = picture_of(rng.integers(60, 120, (SIDE, 1)) + 100 * mask)
        files[f"train/masks/{name}.png"] = picture_of(255 * mask)
    write_zip(raw / "competition_data.zip", ((f"competition_data/{name}", content) for name, content in files.items()))


task.fixed(
    "v1 treats an empty mask as one that covers the whole image and withholds the depths of the test images.",
    prepare=partial(prepare, all_depths=True),
    metric=task.metric.using(blank_is_all=False),
)
