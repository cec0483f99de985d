"""Spooky Author Identification: which of three authors wrote the sentence?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import WORDS, sentences, split_table, write_zip
from podium.metrics import log_loss
from podium.task import Columns, Number, competition

SHARES = {"EAP": 0.403493538995863, "HPL": 0.287808366106543, "MWS": 0.308698094897594}
AUTHORS = list(SHARES)

task = competition(
    "spooky-author-identification",
    title="Spooky Author Identification",
    kind="text classification",
    metric=log_loss,
    # Kaggle rescaled rows to a total of 1; MLE-bench refuses them instead.
    submission=Columns(id="id", target=tuple(AUTHORS), values=Number(0, 1), row_total=1, extra_columns=False),
)
split_table(task, 0.1, table="train.zip", train="train.csv", guess=SHARES, hidden="author", classes="author")


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    voices = {
        "EAP": ["raven", "melancholy", "Dupin", "D——", '"ha! ha!"'],
        "HPL": ["eldritch", "R'lyeh", "Arkham,", "cyclopean"],
        "MWS": ["Elizabeth", "Geneva;", "creature", "despair"],
    }
    authors = rng.choice(AUTHORS, 260, p=[0.4, 0.3, 0.3])
    numbers = rng.choice(28_000, len(authors), replace=False)
    texts = [sentences(rng, 1, vocabulary=WORDS + 3 * voices[author])[0] for author in authors]
    table = pd.DataFrame({"id": [f"id{number:05d}" for number in numbers], "text": texts, "author": authors})
    write_zip(raw / "train.zip", [("train.csv", table.to_csv(index=False).encode())])
