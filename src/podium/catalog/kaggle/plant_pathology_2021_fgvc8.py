"""Plant Pathology 2021: which diseases does the apple leaf have?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import hex_ids, pictures, split_table, write_csv, write_files
from podium.metrics import label_micro_f1
from podium.task import Columns, competition

task = competition(
    "plant-pathology-2021-fgvc8",
    title="Plant Pathology 2021 - FGVC8",
    kind="image tagging",
    # As in MLE-bench, a label that no test picture has costs nothing.
    metric=label_micro_f1.using(ignore_unknown=True, title="Micro F1"),
    submission=Columns(id="image", target="labels", values=str, answers="answers.csv"),
)
split_table(task, 0.2, guess="healthy", files="train_images/{image}")


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    diseases = ["scab", "frog_eye_leaf_spot", "rust", "powdery_mildew"]
    found = np.array(["healthy", "complex", *diseases, "scab frog_eye_leaf_spot complex", "rust frog_eye_leaf_spot"])
    kinds = rng.integers(len(found), size=150)
    names = [f"{name}.jpg" for name in sorted(hex_ids(rng, 150, 16))]
    write_csv(pd.DataFrame({"image": names, "labels": found[kinds]}), raw / "train.csv")
    write_files(raw / "train_images", pictures(rng, names, kinds))


task.fixed(
    "Every wrong label counts, even one that no test picture has.", metric=label_micro_f1.using(title="Micro F1")
)
