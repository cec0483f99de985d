"""SIIM-ISIC: is a spot on the skin a melanoma?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import (
    dicom,
    link_file,
    link_parts,
    picture,
    read_csv,
    write_bytes,
    write_csv,
    write_parts,
)
from podium.data.formats.tfrecords import keep_only, make_record, texts_of, write_records
from podium.metrics import roc_auc
from podium.task import Columns, Number, competition

HELD = ["train00-2071.tfrec", "train06-2071.tfrec"]
TEST_COLUMNS = ["image_name", "patient_id", "sex", "age_approx", "anatom_site_general_challenge"]
LABELS = ["diagnosis", "benign_malignant", "target"]
SITES = ["torso", "lower extremity", "upper extremity", "head/neck", "palms/soles", "oral/genital"]

task = competition(
    "siim-isic-melanoma-classification",
    title="SIIM-ISIC Melanoma Classification",
    kind="image classification",
    metric=roc_auc,
    submission=Columns(id="image_name", target="target", values=Number(0, 1)),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    records, table = raw / "tfrecords", read_csv(raw / "train.csv")
    held = table["image_name"].isin(texts_of((records / name for name in HELD), "image_name"))
    parts = [table[~held], table[held]]
    answers = parts[1][["image_name", "target"]]
    write_parts(task.form, parts, public, private, guess=0, hidden=LABELS, answers=answers)
    link_parts(parts, raw, public, files="train/{image_name}.dcm")
    link_parts(parts, raw, public, files="jpeg/train/{image_name}.jpg")
    names = sorted(path.name for path in records.glob("train*.tfrec"))
    for folder, chosen in (("test", HELD), ("train", [name for name in names if name not in HELD])):
        for number, name in enumerate(chosen):
            link_file(records / name, public / "tfrecords" / f"{folder}{number:02d}-{name.partition('-')[2]}")


def prepare_fixed(raw: Path, public: Path, private: Path) -> None:
    """Keep only the features of test.csv in the records of test images."""
    prepare(raw, public, private)
    for path in sorted((public / "tfrecords").glob("test*.tfrec")):
        keep_only(path, ["image", *TEST_COLUMNS])


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    rows = []
    for name in [f"train{number:02d}-2071.tfrec" for number in range(15)] + ["train15-2061.tfrec"]:
        records = []
        for target in rng.permutation([1, 1, 0, 0, 0, 0]):
            image, patient = f"ISIC_{rng.integers(10**7):07d}", f"IP_{rng.integers(40):07d}"
            jpeg = picture(rng, tint=target, size=(16, 16))
            write_bytes(raw / "jpeg" / "train" / f"{image}.jpg", jpeg)
            write_bytes(raw / "train" / f"{image}.dcm", dicom(rng.integers(0, 90, (8, 8)) + 60 * target))
            records.append(make_record(image=jpeg, image_name=image, patient_id=patient, target=int(target)))
            age = rng.choice([*range(15, 91, 5), np.nan])
            rows.append((image, patient, rng.choice(["male", "female"]), age, rng.choice(SITES), target))
        write_records(raw / "tfrecords" / name, records)
    table = pd.DataFrame(rows, columns=[*TEST_COLUMNS, "target"])
    table.insert(5, "diagnosis", np.where(table["target"] == 1, "melanoma", "unknown"))
    table.insert(6, "benign_malignant", np.where(table["target"] == 1, "malignant", "benign"))
    write_csv(table.sort_values("image_name"), raw / "train.csv")


task.fixed("The TFRecords of test images hold no answers.", prepare=prepare_fixed)
