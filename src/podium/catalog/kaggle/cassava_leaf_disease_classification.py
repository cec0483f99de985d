"""Cassava Leaf Disease Classification: which disease does the plant have?"""

import json
from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.fabricate import picture, write_bytes
from podium.data.files import link_file, link_files
from podium.data.split import split_rows
from podium.data.tables import read_csv, sample_of, write_csv
from podium.data.tfrecords import first_bytes, keep_features, make_record, read_records, write_records
from podium.metrics import accuracy
from podium.task import Columns, competition

DISEASES = [
    "Cassava Bacterial Blight (CBB)",
    "Cassava Brown Streak Disease (CBSD)",
    "Cassava Green Mottle (CGM)",
    "Cassava Mosaic Disease (CMD)",
    "Healthy",
]
DISEASE_NAMES = "label_num_to_disease_map.json"

task = competition(
    "cassava-leaf-disease-classification",
    title="Cassava Leaf Disease Classification",
    kind="image classification",
    metric=accuracy,
    submission=Columns(id="image_id", target="label", values=int),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    shards = split_rows(sorted((raw / "train_tfrecords").glob("*.tfrec")), 0.1)
    for part, files in zip(("train", "test"), shards, strict=True):
        for number, shard in enumerate(files):
            records = shard.stem.split("-")[1]
            link_file(shard, public / f"{part}_tfrecords" / f"ld_{part}{number:02d}-{records}.tfrec")
    labels = read_csv(raw / "train.csv")
    held = {first_bytes(record, "image_name").decode() for shard in shards[1] for record in read_records(shard)}
    train, test = labels[~labels["image_id"].isin(held)], labels[labels["image_id"].isin(held)]
    for rows, folder in ((train, "train_images"), (test, "test_images")):
        link_files(raw / "train_images", public / folder, rows["image_id"])
    link_file(raw / DISEASE_NAMES, public / DISEASE_NAMES)
    write_csv(train, public / "train.csv")
    write_csv(sample_of(test, "image_id", label=4), public / "sample_submission.csv")
    write_csv(test, private / "test.csv")


def prepare_fixed(raw: Path, public: Path, private: Path) -> None:
    """Takes the labels out of the records of test pictures."""
    prepare(raw, public, private)
    for shard in sorted((public / "test_tfrecords").iterdir()):
        linked = shard.rename(shard.with_suffix(".labelled"))
        write_records(shard, (keep_features(record, ("image", "image_name")) for record in read_records(linked)))
        linked.unlink()


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    labels = rng.permutation(np.arange(128) % 5)
    names = sorted(f"{number}.jpg" for number in rng.choice(2**32, len(labels), replace=False))
    photos = [picture(rng, tint=int(label)) for label in labels]
    write_csv(pd.DataFrame({"image_id": names, "label": labels}), raw / "train.csv")
    write_bytes(raw / DISEASE_NAMES, json.dumps(dict(enumerate(DISEASES))).encode())
    for name, photo in zip(names, photos, strict=True):
        write_bytes(raw / "train_images" / name, photo)
    for shard, members in enumerate(rng.permutation(len(labels)).reshape(16, 8)):
        records = (make_record(image=photos[i], image_name=names[i], target=int(labels[i])) for i in members)
        write_records(raw / "train_tfrecords" / f"ld_train{shard:02d}-8.tfrec", records)


task.fixed("The TFRecords of test pictures no longer hold their labels.", prepare=prepare_fixed)
