"""Shared parts of the Herbarium competitions: their form, and the file layout of 2020 and 2021."""

import json
from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import read_json, write_answers, write_bytes, write_files
from podium.data.formats import coco
from podium.metrics import f1
from podium.task import Columns, Integer, Task, competition

FORM = Columns(id="Id", target="Predicted", values=Integer(cut=True), answers="answers.csv")
MACRO_F1 = f1.using(average="macro", title="Macro F1")


def herbarium(task_id: str, *, title: str) -> Task:
    """Return a Herbarium competition without its data."""
    return competition(task_id, title=title, kind="image classification", metric=MACRO_F1, submission=FORM)


def prepare(raw: Path, public: Path, private: Path, *, folder: str = "", encoding: str = "utf-8") -> None:
    """Split off a fifth of each species as the test part, renumbered."""
    source, shown = raw / folder / "train", public / folder
    document = read_json(source / "metadata.json", encoding=encoding)
    train, test = coco.split_document(document, 0.2)
    coco.write_document(coco.with_pairs(document, train), shown / "train" / "metadata.json")
    coco.link_images(source, shown / "train", coco.images_of(train))
    renamed = coco.numbered(coco.images_of(test), lambda place: f"images/{place // 1000:03d}/{place}.jpg")
    coco.write_document(coco.without_labels(document, renamed), shown / "test" / "metadata.json")
    coco.link_images(source, shown / "test", coco.images_of(test), renamed)
    write_numbered_answers(test, public, private, guess=0)


def write_numbered_answers(test: list[coco.AnnotatedImage], public: Path, private: Path, *, guess: int) -> None:
    """Write answers whose ids are positions in the test part, and a sample submission with a constant guess."""
    answers = pd.DataFrame({"Id": range(len(test)), "Predicted": coco.categories_of(test)})
    write_answers(FORM, answers, public, private, guess=guess)


def by_category(category: int) -> str:
    """Return the folder of a category: two levels of it, by hundreds."""
    return f"{category // 100:03d}/{category % 100:02d}"


def fabricate(raw: Path, rng: np.random.Generator, *, folder: str = "", encoding: str = "utf-8") -> None:
    """Fabricate a miniature for `prepare`."""
    document = coco.make_document(rng, 32_000, lambda category, number: f"images/{by_category(category)}/{number}.jpg")
    text = json.dumps(document, ensure_ascii=False)
    write_bytes(raw / folder / "train" / "metadata.json", text.encode(encoding))
    write_files(raw / folder / "train", coco.make_pictures(rng, document))
