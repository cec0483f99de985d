"""iNaturalist 2019: which species is in the picture?"""

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import link_file, read_json, unpacked, write_answers, write_json, write_tar
from podium.data.formats import coco
from podium.errors import InvalidSubmission
from podium.metrics import error_rate
from podium.tables.parse_numbers import to_numbers
from podium.task import Columns, Text, competition

SAMPLE = "kaggle_sample_submission.csv"
FOLDER = "train_val2019"

task = competition(
    "inaturalist-2019-fgvc6",
    title="iNaturalist 2019 at FGVC6",
    kind="image classification",
    metric=error_rate.using(title="Top-1 error"),
    submission=Columns(id="id", target="predicted", values=Text(blank=False), sample=SAMPLE, answers="answers.csv"),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path, *, validation_pictures: bool = False) -> None:
    document = read_json(raw / "train2019.json")
    train, test = coco.split_document(document, 0.12)
    shown, images = coco.images_of(train), coco.images_of(test)
    coco.write_document(coco.with_pairs(document, train), public / "train2019.json")
    link_file(raw / "val2019.json", public / "val2019.json")
    renamed = [{**image, "file_name": f"test2019/{Path(image['file_name']).name}"} for image in images]
    coco.write_document(coco.without_labels(document, renamed), public / "test2019.json")
    answers = pd.DataFrame({"id": [image["id"] for image in images], "predicted": coco.categories_of(test)})
    write_answers(task.form, answers, public, private, guess=654)
    shown += read_json(raw / "val2019.json")["images"] if validation_pictures else []
    with unpacked(raw / f"{FOLDER}.tar.gz", public) as folder:
        names = [image["file_name"].removeprefix(f"{FOLDER}/") for image in shown]
        write_tar(public / f"{FOLDER}.tar.gz", ((name, folder / FOLDER / name) for name in sorted(names)))
        held = {Path(image["file_name"]).name: folder / image["file_name"] for image in images}
        write_tar(public / "test2019.tar.gz", sorted(held.items()))


@task.score
def score(answers: pd.DataFrame, submission: pd.DataFrame) -> float:
    guesses = to_numbers(submission["predicted"].str.split(n=1).str[0])
    wrong = submission[guesses % 1 != 0]
    if len(wrong):
        name, cell = wrong.iloc[0]
        raise InvalidSubmission(f"Column 'predicted', id {name}: {cell[:40]!r} does not start with a whole number.")
    return task.metric(answers["predicted"].astype(int), guesses)


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    pictures = []
    for part in ("train", "val"):
        document = coco.make_document(rng, 1010, lambda kind, number: f"{FOLDER}/Birds/{kind}/{number:032x}.jpg")
        write_json(document, raw / f"{part}2019.json", ensure_ascii=False)
        pictures += coco.make_pictures(rng, document)
    write_tar(raw / f"{FOLDER}.tar.gz", pictures)


task.fixed(
    "The archive of training pictures also holds those that val2019.json describes.",
    prepare=partial(prepare, validation_pictures=True),
)
