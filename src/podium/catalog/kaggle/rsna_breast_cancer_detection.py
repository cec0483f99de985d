"""RSNA Screening Mammography: is there cancer in the breast?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import dicom, link_parts, read_csv, sample_of, split_values, write_bytes, write_csv
from podium.metrics import probabilistic_f1
from podium.task import Columns, competition

ID = "prediction_id"
TEST_COLUMNS = ["site_id", "patient_id", "image_id", "laterality", "view", "age", "implant", "machine_id", ID]
LABELS = ["cancer", "biopsy", "invasive", "BIRADS", "implant", "density", "machine_id", "difficult_negative_case"]

task = competition(
    "rsna-breast-cancer-detection",
    title="RSNA Screening Mammography Breast Cancer Detection",
    kind="medical image classification",
    metric=probabilistic_f1,
    # MLE-bench gives 0 to a submission with a blank cell and clips infinite ones; here both are refused.
    submission=Columns(id=ID, target="cancer", values=float, answers="answers.csv"),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    train, test = split_values(read_csv(raw / "train.csv"), "patient_id", 0.1, random_state=42)
    test = test.assign(**{ID: test["patient_id"].astype(str) + "_" + test["laterality"]})
    write_csv(train, public / "train.csv")
    write_csv(test[TEST_COLUMNS], public / "test.csv")
    answers = test.groupby(ID)["cancer"].first().reset_index()
    write_csv(sample_of(answers, ID, cancer=train["cancer"].mean()), public / "sample_submission.csv")
    write_csv(answers, private / "answers.csv")
    link_parts((train, test), raw, public, files="train_images/{patient_id}/{image_id}.dcm")


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    rows = []
    for patient in np.sort(rng.choice(65_000, 60, replace=False)):
        site, age = rng.integers(1, 3), rng.integers(30, 90)
        for side in rng.permutation(["L", "R"]):
            cancer = int(rng.random() < age / 250)
            birads = rng.choice([0, 1, 2]) if rng.random() < 0.5 else np.nan
            density = rng.choice(list("ABCD")) if site == 1 else np.nan
            for view in ("MLO", "CC"):
                image = rng.integers(2**31)
                finding = (cancer, cancer, cancer, birads, 0, density, 49, not cancer and rng.random() < 0.2)
                rows.append((site, patient, image, side, view, age, *finding))
                scan = dicom(rng.integers(0, 90, (8, 8)) + 60 * cancer)
                write_bytes(raw / "train_images" / f"{patient}/{image}.dcm", scan)
    write_csv(pd.DataFrame(rows, columns=[*TEST_COLUMNS[:6], *LABELS]), raw / "train.csv")
