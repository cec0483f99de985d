"""Kuzushiji Recognition: which characters stand where on a page of cursive Japanese?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import (
    link_file,
    picture,
    read_csv,
    split_rows,
    write_csv,
    write_parts,
    write_zip,
    zip_parts,
)
from podium.metrics import point_f1
from podium.task import Columns, competition

task = competition(
    "kuzushiji-recognition",
    title="Kuzushiji Recognition",
    kind="object detection",
    metric=point_f1.using(title="F1 of characters"),
    submission=Columns(id="image_id", target="labels", values=str),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    _, test = parts = split_rows(read_csv(raw / "train.csv"), 0.1)
    write_parts(task.form, parts, public, private, guess="U+003F 1 1 U+FF2F 2 2")
    write_csv(test.assign(labels=test["labels"].map(_points)), private / "gold_submission.csv")
    link_file(raw / "unicode_translation.csv", public / "unicode_translation.csv")
    zip_parts(parts, raw / "train_images.zip", public, files="{image_id}.jpg")


def _points(labels: str) -> str:
    """Return a point inside each box, at its upper left corner."""
    label, x, y = (labels.split()[field::5] for field in range(3))
    return " ".join(f"{a} {int(b) + 1} {int(c) + 1}" for a, b, c in zip(label, x, y, strict=True))


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    characters = {f"U+{ord(character):04X}": character for character in "のにしてをるはもりと人一日月大見"}
    write_csv(pd.DataFrame(characters.items(), columns=["Unicode", "char"]), raw / "unicode_translation.csv")
    pages = [f"umgy{book:03d}-{number:05d}" for book in range(8) for number in rng.choice(999, 8, replace=False)]
    labels = []
    for _ in pages:
        count = int(rng.integers(4, 20))
        boxes = np.hstack([rng.integers(100, 2000, (count, 2)), rng.integers(20, 150, (count, 2))])
        chosen = rng.choice(list(characters), count)
        labels.append(" ".join(f"{a} {' '.join(map(str, box))}" for a, box in zip(chosen, boxes, strict=True)))
    write_csv(pd.DataFrame({"image_id": pages, "labels": labels}), raw / "train.csv")
    write_zip(raw / "train_images.zip", ((f"{page}.jpg", picture(rng)) for page in [*pages, "umgy999-00001"]))
