"""iWildCam 2020: which animal has the camera trap caught, at places nobody has seen before?"""

from pathlib import Path
from uuid import UUID

import numpy as np
import pandas as pd

from podium.data.building_blocks import link_file, link_parts, read_json, split_rows, write_answers, write_json
from podium.data.fabricate import hex_ids, pictures, write_files
from podium.metrics import accuracy
from podium.task import Columns, competition

ANNOTATIONS, TEST_IMAGES = "iwildcam2020_train_annotations.json", "iwildcam2020_test_information.json"
DETECTIONS = "iwildcam2020_megadetector_results.json"
TEST_SHARE = 0.22

task = competition(
    "iwildcam-2020-fgvc7",
    title="iWildCam 2020 - FGVC7",
    kind="image classification",
    metric=accuracy,
    submission=Columns(id="Id", target="Category", values=int, answers="answers.csv"),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    known, unknown = read_json(raw / ANNOTATIONS), read_json(raw / TEST_IMAGES)
    images = pd.DataFrame(known["images"])
    held = images["location"].isin(_test_locations(images["location"]))
    train, test = images[~held], images[held]
    in_test = set(test["id"])
    labels = pd.DataFrame([entry for entry in known["annotations"] if entry["image_id"] in in_test])
    answers = labels[["image_id", "category_id"]].set_axis(["Id", "Category"], axis=1)
    shown = [entry for entry in known["annotations"] if entry["image_id"] not in in_test]
    about = [{key: document[key] for key in ("categories", "info")} for document in (known, unknown)]
    write_json({"annotations": shown, "images": train.to_dict("records"), **about[0]}, public / ANNOTATIONS)
    write_json({"images": test.to_dict("records"), **about[1]}, public / TEST_IMAGES)
    link_file(raw / DETECTIONS, public / DETECTIONS)
    link_parts((train, test), raw, public, files="train/{id}.jpg")
    guess = {"Category": np.random.RandomState(0).randint(0, 676, len(answers))}
    write_answers(task.form, answers, public, private, guess=guess)


def _test_locations(locations: pd.Series) -> list[int]:
    """Return locations for the test part until its share is right, with MLE-bench's double counting in the total."""
    sizes = locations.value_counts()
    train, test = split_rows(list(locations.unique()), TEST_SHARE)

    def share() -> float:
        count = int(sizes[test].sum())
        return count / (len(locations) + count)

    while share() < TEST_SHARE:
        test.append(train.pop())
    while share() > TEST_SHARE:
        train.append(test.pop())
    return test


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    ids = [str(UUID(name)) for name in hex_ids(rng, 150, 32)]
    animals = np.where(rng.random(150) < 0.4, 0, rng.choice([2, 3, 24, 96, 372, 570], 150)).tolist()
    places = rng.integers(40, size=150).tolist()
    files = [f"{name}.jpg" for name in ids]
    images = pd.DataFrame({"location": places, "seq_num_frames": 1, "datetime": "2013-08-01 18:05:54.000"})
    images = images.assign(frame_num=0, width=8, height=8, seq_id=ids, file_name=files, id=ids)
    labels = pd.DataFrame({"count": np.sign(animals), "image_id": ids, "category_id": animals, "id": ids})
    categories = [{"id": number, "name": f"animal {number}", "count": 1} for number in sorted(set(animals))]
    about = {"images": images.to_dict("records"), "categories": categories, "info": {"year": 2020}}
    write_json({"annotations": labels[::-1].to_dict("records"), **about}, raw / ANNOTATIONS)
    write_json({**about, "images": []}, raw / TEST_IMAGES)
    write_json({"images": [{"id": name, "detections": []} for name in ids]}, raw / DETECTIONS)
    write_files(raw / "train", pictures(rng, files, animals))
