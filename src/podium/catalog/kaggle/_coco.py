"""Pictures described in the manner of COCO: one JSON document whose annotations and images correspond by position."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from podium.data.fabricate import picture, write_bytes
from podium.data.files import link_file
from podium.data.split import split_per_category
from podium.data.tables import read_json, sample_of, write_csv
from podium.errors import RawDataError

Entry = dict[str, Any]
Pair = tuple[Entry, Entry]
"""An annotation and its image."""


def split_document(
    document: Entry, test_size: float, *, id_key: str = "id", smallest: int = 5
) -> tuple[list[Pair], list[Pair]]:
    """The pairs of the train part, category by category, and the shuffled ones of the test part."""
    annotations, images = document["annotations"], document["images"]
    if [annotation["image_id"] for annotation in annotations] != [image[id_key] for image in images]:
        raise RawDataError("The raw metadata is damaged: its annotations and images are not in the same order.")
    pairs = list(zip(annotations, images, strict=True))
    return split_per_category(pairs, categories_of(pairs), test_size, smallest=smallest)


def categories_of(pairs: Iterable[Pair]) -> list[int]:
    return [annotation["category_id"] for annotation, _ in pairs]


def images_of(pairs: Iterable[Pair]) -> list[Entry]:
    return [image for _, image in pairs]


def with_pairs(document: Entry, pairs: list[Pair]) -> Entry:
    """The document with other annotations and images."""
    return {**document, "annotations": [annotation for annotation, _ in pairs], "images": images_of(pairs)}


def without_labels(document: Entry, images: list[Entry]) -> Entry:
    """What test images come with."""
    return {"images": images, "info": document["info"], "licenses": document["licenses"]}


def write_document(content: Any, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        json.dump(content, file, indent=4, sort_keys=True)


def link_images(source: Path, target: Path, images: list[Entry], renamed: list[Entry]) -> None:
    """Puts images of one folder into another, under the names they have there."""
    for image, new in zip(images, renamed, strict=True):
        link_file(source / image["file_name"], target / new["file_name"])


def write_numbered_answers(test: list[Pair], public: Path, private: Path, *, guess: int) -> None:
    """Answers whose ids are positions in the test part, and a sample submission of one guess."""
    answers = pd.DataFrame({"Id": range(len(test)), "Predicted": categories_of(test)})
    write_csv(answers, private / "answers.csv")
    write_csv(sample_of(answers, "Id", Predicted=guess), public / "sample_submission.csv")


def prepare_herbarium(raw: Path, public: Path, private: Path, *, folder: str = "", encoding: str = "utf-8") -> None:
    """Two of the Herbarium competitions: a fifth of each species becomes the test part, numbered anew."""
    source, shown = raw / folder / "train", public / folder
    document = read_json(source / "metadata.json", encoding=encoding)
    train, test = split_document(document, 0.2)
    write_document(with_pairs(document, train), shown / "train" / "metadata.json")
    link_images(source, shown / "train", images_of(train), images_of(train))
    numbered = [
        {**image, "id": str(number), "file_name": f"images/{number // 1000:03d}/{number}.jpg"}
        for number, image in enumerate(images_of(test))
    ]
    write_document(without_labels(document, numbered), shown / "test" / "metadata.json")
    link_images(source, shown / "test", images_of(test), numbered)
    write_numbered_answers(test, public, private, guess=0)


def by_category(category: int) -> str:
    """The folder of a category: two levels of it, by hundreds."""
    return f"{category // 100:03d}/{category % 100:02d}"


def make_document(rng: np.random.Generator, classes: int, file_name: Callable[[int, int], str]) -> Entry:
    """A document about 24 of the classes in mixed order, with one to eleven pictures each.

    Args:
        file_name: gives the name of a picture from its category and its id.
    """
    chosen = rng.choice(classes, 24, replace=False)
    labels = rng.permutation(np.repeat(chosen, 1 + np.arange(24) % 11)).tolist()
    ids = rng.choice(10**6, len(labels), replace=False).tolist()
    return {
        "annotations": [{"category_id": c, "id": i, "image_id": i} for i, c in zip(ids, labels, strict=True)],
        "images": [
            {"file_name": file_name(category, number), "height": 8, "id": number, "license": 1, "width": 8}
            for number, category in zip(ids, labels, strict=True)
        ],
        "categories": [{"id": category, "name": f"Species ×{category}"} for category in sorted(chosen.tolist())],
        "info": {"description": "A miniature", "year": 2020},
        "licenses": [{"id": 1, "name": "CC BY-NC", "url": ""}],
    }


def fabricate_herbarium(raw: Path, rng: np.random.Generator, *, folder: str = "", encoding: str = "utf-8") -> None:
    """A miniature for `prepare_herbarium`."""
    document = make_document(rng, 32_000, lambda category, number: f"images/{by_category(category)}/{number}.jpg")
    text = json.dumps(document, ensure_ascii=False)
    write_bytes(raw / folder / "train" / "metadata.json", text.encode(encoding))
    for name, content in make_pictures(rng, document):
        write_bytes(raw / folder / "train" / name, content)


def make_pictures(rng: np.random.Generator, document: Entry) -> list[tuple[str, bytes]]:
    """A picture for each image of a document, with its file name."""
    pairs = zip(document["annotations"], document["images"], strict=True)
    return [(image["file_name"], picture(rng, tint=annotation["category_id"])) for annotation, image in pairs]
