"""COCO-style image annotations: one JSON document whose annotations and images correspond by position."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from podium.data.fabricate import picture
from podium.data.split import split_per_category
from podium.errors import RawDataError
from podium.safefs.atomic_files import link_file

CocoEntry = dict[str, Any]
AnnotatedImage = tuple[CocoEntry, CocoEntry]
"""Pair of an annotation and its image."""


def split_document(
    document: CocoEntry, test_size: float, *, id_key: str = "id", smallest: int = 5
) -> tuple[list[AnnotatedImage], list[AnnotatedImage]]:
    """Return the pairs of the train part, sorted by category, and those of the test part, shuffled."""
    annotations, images = document["annotations"], document["images"]
    if [annotation["image_id"] for annotation in annotations] != [image[id_key] for image in images]:
        raise RawDataError("The raw metadata is damaged: its annotations and images are not in the same order.")
    pairs = list(zip(annotations, images, strict=True))
    return split_per_category(pairs, categories_of(pairs), test_size, smallest=smallest)


def categories_of(pairs: Iterable[AnnotatedImage]) -> list[int]:
    """Return the category of each pair."""
    return [annotation["category_id"] for annotation, _ in pairs]


def images_of(pairs: Iterable[AnnotatedImage]) -> list[CocoEntry]:
    """Return the image of each pair."""
    return [image for _, image in pairs]


def numbered(images: Iterable[CocoEntry], file_name: Callable[[int], str], *, id_key: str = "id") -> list[CocoEntry]:
    """Return the images with their positions as ids, and with files named after the ids."""
    return [{**image, id_key: str(place), "file_name": file_name(place)} for place, image in enumerate(images)]


def with_pairs(document: CocoEntry, pairs: list[AnnotatedImage]) -> CocoEntry:
    """Return the document with other annotations and images."""
    return {**document, "annotations": [annotation for annotation, _ in pairs], "images": images_of(pairs)}


def without_labels(document: CocoEntry, images: list[CocoEntry]) -> CocoEntry:
    """Return the document published with test images."""
    return {"images": images, "info": document["info"], "licenses": document["licenses"]}


def write_document(content: Any, path: Path) -> None:
    """Write a document, or a part of one, in readable form: indented, with sorted keys."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        json.dump(content, file, indent=4, sort_keys=True)


def link_images(source: Path, target: Path, images: list[CocoEntry], renamed: list[CocoEntry] | None = None) -> None:
    """Link images of one folder into another, under their names there."""
    for image, new in zip(images, renamed or images, strict=True):
        link_file(source / image["file_name"], target / new["file_name"])


def make_document(rng: np.random.Generator, classes: int, file_name: Callable[[int, int], str]) -> CocoEntry:
    """Return a document about 24 of the classes in mixed order, with one to eleven images each.

    Args:
        file_name: Returns the file name of an image from its category and its id.
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


def make_pictures(rng: np.random.Generator, document: CocoEntry) -> list[tuple[str, bytes]]:
    """Return the file name and bytes of each image of a document, tinted by category."""
    pairs = zip(document["annotations"], document["images"], strict=True)
    return [(image["file_name"], picture(rng, tint=annotation["category_id"])) for annotation, image in pairs]
