"""Cassava Leaf Disease Classification: which disease does the plant have?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import (
    RAW_ORDER,
    link_file,
    link_parts,
    read_csv,
    split_rows,
    write_csv,
    write_json,
    write_parts,
)
from podium.data.fabricate import picture, write_bytes
from podium.data.formats.tfrecords import keep_only, make_record, texts_of, write_records
from podium.metrics import accuracy
from podium.task import Columns, competition

DISEASES = ["Bacterial Blight (CBB)", "Brown Streak Disease (CBSD)", "Green Mottle (CGM)", "Mosaic Disease (CMD)"]
DISEASE_NAMES = "label_num_to_disease_map.json"

task = competition(
    "cassava-leaf-disease-classification",
    title="Cassava Leaf Disease Classification",
    kind="image classification",
    metric=accuracy,
    submission=Columns(id="image_id", target="label", values=int),
    known_leaks=RAW_ORDER,
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    shards = split_rows(sorted((raw / "train_tfrecords").glob("*.tfrec")), 0.1)
    for part, files in zip(("train", "test"), shards, strict=True):
        for number, shard in enumerate(files):
            records = shard.stem.split("-")[1]
            link_file(shard, public / f"{part}_tfrecords" / f"ld_{part}{number:02d}-{records}.tfrec")
    labels = read_csv(raw / "train.csv")
    held = labels["image_id"].isin(texts_of(shards[1], "image_name"))
    parts = [labels[~held], labels[held]]
    write_parts(task.form, parts, public, private, guess=4)
    link_parts(parts, raw, public, files="train_images/{image_id}")
    link_file(raw / DISEASE_NAMES, public / DISEASE_NAMES)


def prepare_fixed(raw: Path, public: Path, private: Path) -> None:
    """Take the labels out of the records of test pictures."""
    prepare(raw, public, private)
    for shard in sorted((public / "test_tfrecords").iterdir()):
        keep_only(shard, ("image", "image_name"))


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    labels = rng.permutation(np.arange(128) % 5)
    names = sorted(f"{number}.jpg" for number in rng.choice(2**32, len(labels), replace=False))
    photos = [picture(rng, tint=int(label)) for label in labels]
    write_csv(pd.DataFrame({"image_id": names, "label": labels}), raw / "train.csv")
    write_json(dict(enumerate([*(f"Cassava {name}" for name in DISEASES), "Healthy"])), raw / DISEASE_NAMES)
    for name, photo in zip(names, photos, strict=True):
        write_bytes(raw / "train_images" / name, photo)
    for shard, members in enumerate(rng.permutation(len(labels)).reshape(16, 8)):
        records = (make_record(image=photos[i], image_name=names[i], target=int(labels[i])) for i in members)
        write_records(raw / "train_tfrecords" / f"ld_train{shard:02d}-8.tfrec", records)


task.fixed("The TFRecords of test pictures no longer hold their labels.", prepare=prepare_fixed)
