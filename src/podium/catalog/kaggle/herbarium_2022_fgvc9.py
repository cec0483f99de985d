"""Herbarium 2022: to which of 15,501 species of North America does the pressed plant belong?"""

import json
from collections import Counter
from pathlib import Path

import numpy as np

from podium.catalog.kaggle._coco import (
    Pair,
    by_category,
    images_of,
    link_images,
    make_document,
    make_pictures,
    split_document,
    with_pairs,
    write_document,
    write_numbered_answers,
)
from podium.data.fabricate import write_bytes
from podium.data.tables import read_json
from podium.metrics import f1
from podium.task import Columns, Integer, competition

task = competition(
    "herbarium-2022-fgvc9",
    title="Herbarium 2022 - FGVC9",
    kind="image classification",
    metric=f1.using(average="macro", title="Macro F1"),
    submission=Columns(id="Id", target="Predicted", values=Integer(cut=True), answers="answers.csv"),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    document = read_json(raw / "train_metadata.json")
    train, test = split_document(document, 0.2, id_key="image_id", smallest=2)
    named = _numbered_by_species(train)
    write_document(with_pairs(document, named), public / "train_metadata.json")
    link_images(raw / "train_images", public / "train_images", images_of(train), images_of(named))
    numbered = [
        {**image, "image_id": str(number), "file_name": f"{number // 1000:03d}/test-{number:06d}.jpg"}
        for number, image in enumerate(images_of(test))
    ]
    write_document(numbered, public / "test_metadata.json")
    link_images(raw / "train_images", public / "test_images", images_of(test), numbered)
    write_numbered_answers(test, public, private, guess=42)


def _numbered_by_species(pairs: list[Pair]) -> list[Pair]:
    """Names without gaps, so that they do not tell how many sheets of a species are in the test part."""
    seen: Counter[int] = Counter()
    named = []
    for annotation, image in pairs:
        category = annotation["category_id"]
        seen[category] += 1
        name = f"{category:05d}__{seen[category]:03d}"
        file_name = f"{by_category(category)}/{name}.jpg"
        named.append(({**annotation, "image_id": name}, {**image, "image_id": name, "file_name": file_name}))
    return named


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    document = make_document(rng, 15_501, lambda category, number: f"{by_category(category)}/{number}.jpg")
    for image in document["images"]:
        image["image_id"] = image.pop("id")
    write_bytes(raw / "train_metadata.json", json.dumps(document).encode())
    for name, content in make_pictures(rng, document):
        write_bytes(raw / "train_images" / name, content)
