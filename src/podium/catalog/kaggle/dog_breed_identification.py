"""Dog Breed Identification: of which of 120 breeds is the dog in the picture?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import hex_ids, lines_beside, pictures, split_table, write_csv, write_files
from podium.metrics import log_loss
from podium.task import Columns, Number, competition

BREEDS = lines_beside(__file__)

task = competition(
    "dog-breed-identification",
    title="Dog Breed Identification",
    kind="image classification",
    metric=log_loss,
    submission=Columns(id="id", target=tuple(BREEDS), values=Number(0, 1), row_total=1),
)
split_table(task, 0.1, table="labels.csv", guess=1 / len(BREEDS), classes="breed", files="train/{id}.jpg")


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    breeds = rng.permutation(np.repeat(np.arange(len(BREEDS)), 2))
    labels = pd.DataFrame({"id": sorted(hex_ids(rng, len(breeds), 32)), "breed": np.array(BREEDS)[breeds]})
    write_csv(labels, raw / "labels.csv")
    write_files(raw / "train", pictures(rng, labels["id"] + ".jpg", breeds))
