"""Herbarium 2022: to which of 15,501 species of North America does the pressed plant belong?"""

from collections import Counter
from pathlib import Path

import numpy as np

from podium.catalog.kaggle._herbarium import by_category, herbarium, write_numbered_answers
from podium.data.building_blocks import read_json, write_files, write_json
from podium.data.formats import coco

task = herbarium("herbarium-2022-fgvc9", title="Herbarium 2022 - FGVC9")


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    document = read_json(raw / "train_metadata.json")
    train, test = coco.split_document(document, 0.2, id_key="image_id", smallest=2)
    named, images = _numbered_by_species(train), coco.images_of(test)
    coco.write_document(coco.with_pairs(document, named), public / "train_metadata.json")
    coco.link_images(raw / "train_images", public / "train_images", coco.images_of(train), coco.images_of(named))
    renamed = coco.numbered(images, lambda place: f"{place // 1000:03d}/test-{place:06d}.jpg", id_key="image_id")
    coco.write_document(renamed, public / "test_metadata.json")
    coco.link_images(raw / "train_images", public / "test_images", images, renamed)
    write_numbered_answers(test, public, private, guess=42)


def _numbered_by_species(pairs: list[coco.AnnotatedImage]) -> list[coco.AnnotatedImage]:
    """Return images with consecutive names, which do not reveal how many sheets of a species are in the test part."""
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
    document = coco.make_document(rng, 15_501, lambda category, number: f"{by_category(category)}/{number}.jpg")
    for image in document["images"]:
        image["image_id"] = image.pop("id")
    write_json(document, raw / "train_metadata.json")
    write_files(raw / "train_images", coco.make_pictures(rng, document))
