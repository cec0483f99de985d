"""iWildCam 2019: which animal has the camera trap caught, if any?"""

from pathlib import Path
from uuid import UUID

import numpy as np
import pandas as pd

from podium.data.building_blocks import (
    RAW_ORDER,
    hex_ids,
    pictures,
    read_csv,
    sample_of,
    split_values,
    write_csv,
    write_zip,
    zip_parts,
)
from podium.metrics import f1
from podium.task import Columns, Integer, competition

task = competition(
    "iwildcam-2019-fgvc6",
    title="iWildCam 2019 - FGVC6",
    kind="image classification",
    metric=f1.using(average="macro", title="Macro F1"),
    submission=Columns(id="Id", target="Category", values=Integer(cut=True), answers="answers.csv"),
    known_leaks=RAW_ORDER,
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    train, test = parts = split_values(read_csv(raw / "train.csv"), "location", 0.1, random_state=8)
    write_csv(train, public / "train.csv")
    write_csv(test.drop(columns="category_id"), public / "test.csv")
    write_csv(test, private / "test.csv")
    answers = test[["id", "category_id"]].set_axis(["Id", "Category"], axis=1)
    write_csv(answers, private / "answers.csv")
    write_csv(sample_of(answers, "Id", Category=0), public / "sample_submission.csv", index=True)
    zip_parts(parts, raw / "train_images.zip", public, files="{id}.jpg")


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    count = 160
    location = np.sort(rng.integers(30, size=count))
    animal = np.where(rng.random(count) < 0.4, 0, rng.choice([1, 3, 8, 11, 13, 19], count))
    ids = [str(UUID(name)) for name in hex_ids(rng, count, 32)]
    table = pd.DataFrame({"category_id": animal, "date_captured": "2011-07-14 06:30:00"})
    table = table.assign(file_name=[f"{name}.jpg" for name in ids], frame_num=1, id=ids, location=location)
    table = table.assign(rights_holder="Justin Brown", seq_id=ids, seq_num_frames=1, width=8, height=8)
    write_csv(table, raw / "train.csv")
    write_zip(raw / "train_images.zip", pictures(rng, table["file_name"], animal))
