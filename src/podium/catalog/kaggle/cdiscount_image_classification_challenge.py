"""Cdiscount's Image Classification Challenge: to which category does a product belong?"""

from itertools import islice
from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import link_file, picture, split_rows, write_answers, write_csv
from podium.data.formats.bson import integer_field, make_document, read_documents, without_field
from podium.metrics import accuracy
from podium.task import Columns, competition

EXAMPLES = 100

task = competition(
    "cdiscount-image-classification-challenge",
    title="Cdiscount's Image Classification Challenge",
    kind="image classification",
    metric=accuracy,
    submission=Columns(id="_id", target="category_id", values=int, answers="answers.csv"),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    products = _read_labels(raw / "train.bson")
    _, test = split_rows(products, 0.1)
    held = products.index.isin(test.index)
    with (public / "train.bson").open("wb") as known, (public / "test.bson").open("wb") as hidden:
        for document, is_test in zip(read_documents(raw / "train.bson"), held, strict=True):
            (hidden if is_test else known).write(without_field(document, "category_id") if is_test else document)
    with (public / "train_example.bson").open("wb") as file:
        file.writelines(islice(read_documents(public / "train.bson"), EXAMPLES))
    link_file(raw / "category_names.csv", public / "category_names.csv")
    write_answers(task.form, test.sort_values("_id"), public, private, guess=1000010653)


def _read_labels(path: Path) -> pd.DataFrame:
    """Return ids and categories of all products, in the order of the file, which is far larger than memory."""
    columns = ["_id", "category_id"]
    rows = (tuple(integer_field(document, name) for name in columns) for document in read_documents(path))
    return pd.DataFrame(np.fromiter(rows, dtype=[(name, np.int64) for name in columns]))


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    categories = 1000000235 + np.sort(rng.choice(23_000, 12, replace=False))
    levels = (1, 2, 3)
    names = {f"category_level{level}": [f"NIVEAU {level} - N° {i % 2**level}" for i in range(12)] for level in levels}
    write_csv(pd.DataFrame({"category_id": categories, **names}), raw / "category_names.csv")
    with (raw / "train.bson").open("wb") as file:
        for product in range(160):
            kind = int(rng.integers(12))
            photos = [{"picture": picture(rng, tint=kind)} for _ in range(rng.integers(1, 5))]
            file.write(make_document({"_id": 3 * product, "category_id": int(categories[kind]), "imgs": photos}))
