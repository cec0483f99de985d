"""COCO documents: split with their images, written anew, fabricated."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from podium.data.fabricate import write_bytes
from podium.data.formats import coco
from podium.errors import RawDataError


@pytest.fixture
def document() -> coco.CocoEntry:
    return coco.make_document(np.random.default_rng(0), 100, lambda category, number: f"{category}/{number}.jpg")


def test_every_pair_is_in_one_part_and_stays_together(document: coco.CocoEntry) -> None:
    train, test = coco.split_document(document, 0.2)
    assert len(train) + len(test) == len(document["images"])
    for annotation, image in train + test:
        assert annotation["image_id"] == image["id"]
    ids = {image["id"] for image in coco.images_of(train)}
    assert ids.isdisjoint(image["id"] for image in coco.images_of(test))
    assert set(coco.categories_of(test)) <= set(coco.categories_of(train))


def test_annotations_in_another_order_are_refused(document: coco.CocoEntry) -> None:
    document["images"].reverse()
    with pytest.raises(RawDataError, match="not in the same order"):
        coco.split_document(document, 0.2)


def test_test_images_come_without_labels_under_their_numbers(document: coco.CocoEntry, tmp_path: Path) -> None:
    images = document["images"]
    renamed = coco.numbered(images, lambda place: f"test/{place}.jpg")
    coco.write_document(coco.without_labels(document, renamed), tmp_path / "new" / "test.json")
    written = json.loads((tmp_path / "new" / "test.json").read_text(encoding="utf-8"))
    assert written.keys() == {"images", "info", "licenses"}
    assert written["images"][3] == {**images[3], "id": "3", "file_name": "test/3.jpg"}
    for name, content in coco.make_pictures(np.random.default_rng(0), document):
        write_bytes(tmp_path / "old" / name, content)
    coco.link_images(tmp_path / "old", tmp_path / "new", images, renamed)
    assert (tmp_path / "new/test/3.jpg").read_bytes() == (tmp_path / "old" / images[3]["file_name"]).read_bytes()
