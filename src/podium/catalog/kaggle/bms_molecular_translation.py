"""BMS Molecular Translation: which molecule is drawn in the picture?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.fabricate import hex_ids, picture, write_bytes
from podium.data.files import link_file, link_files
from podium.data.split import split_rows
from podium.data.tables import read_csv, sample_of, write_csv
from podium.metrics import mean_levenshtein
from podium.task import Columns, competition

task = competition(
    "bms-molecular-translation",
    title="Bristol-Myers Squibb: Molecular Translation",
    kind="image to text",
    metric=mean_levenshtein,
    submission=Columns(id="image_id", target="InChI", values=str),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    train, test = split_rows(read_csv(raw / "train_labels.csv"), 0.2)
    for part, folder in ((train, "train"), (test, "test")):
        link_files(raw / "train", public / folder, map(_place, part["image_id"]))
    link_file(raw / "extra_approved_InChIs.csv", public / "extra_approved_InChIs.csv")
    write_csv(train, public / "train_labels.csv")
    write_csv(sample_of(test, "image_id", InChI="InChI=1S/H2O/h1H2"), public / "sample_submission.csv")
    write_csv(test, private / "test.csv")


def _place(image_id: str) -> str:
    return "/".join([*image_id[:3], f"{image_id}.png"])


@task.score
def score(answers: pd.DataFrame, submission: pd.DataFrame) -> float:
    # MLE-bench reads an empty prediction as NaN and compares the text "nan".
    predicted = submission["InChI"].replace("", "nan")
    return mean_levenshtein(answers["InChI"], predicted)


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    sizes = rng.integers(3, 15, 80)
    chains = ["-".join(map(str, range(1, size + 1))) for size in sizes]
    names = [f"InChI=1S/C{n}H{2 * n + 2}/c{chain}/h1-{n}H" for n, chain in zip(sizes, chains, strict=True)]
    molecules = pd.DataFrame({"image_id": sorted(hex_ids(rng, len(sizes))), "InChI": names})
    write_csv(molecules, raw / "train_labels.csv")
    write_csv(molecules[["InChI"]].drop_duplicates(), raw / "extra_approved_InChIs.csv")
    for image_id, size in zip(molecules["image_id"], sizes, strict=True):
        image = picture(rng, size=(8, int(size)), tint=int(size), grey=True, suffix=".png")
        write_bytes(raw / "train" / _place(image_id), image)
