"""Detecting Insults in Social Commentary: does the comment insult somebody who takes part in the conversation?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import RAW_ORDER, link_file, read_csv, sentences, write_csv
from podium.metrics import roc_auc
from podium.task import Columns, Number, competition

task = competition(
    "detecting-insults-in-social-commentary",
    title="Detecting Insults in Social Commentary",
    kind="text classification",
    metric=roc_auc,
    submission=Columns(id="Comment", target="Insult", values=Number(0, 1), sample="sample_submission_null.csv"),
    known_leaks=RAW_ORDER,
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    test = read_csv(raw / "test_with_solutions.csv").drop(columns="Usage")
    link_file(raw / "train.csv", public / "train.csv")
    write_csv(test[["Date", "Comment"]], public / "test.csv")
    write_csv(test.assign(Insult=0), public / "sample_submission_null.csv")
    write_csv(test, private / "gold_submission.csv")
    link_file(raw / "test_with_solutions.csv", private / "test.csv")


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    insults = (rng.random(220) < 0.3).astype(int)
    rude = insults.astype(bool) ^ (rng.random(220) < 0.1)
    ends = [f'{", you idiot!" if bad else "."}\\\\n#{number}"' for number, bad in enumerate(rude)]
    texts = [f'"{text}{end}' for text, end in zip(sentences(rng, 220), ends, strict=True)]
    dates = [f"201206{day:02d}{hour:02d}2155Z" for day, hour in rng.integers((1, 0), (31, 24), (220, 2))]
    table = pd.DataFrame({"Insult": insults, "Date": dates, "Comment": texts})
    table["Date"] = table["Date"].mask(rng.random(220) < 0.15)
    write_csv(table[:150], raw / "train.csv")
    tested = table[150:].assign(Usage=rng.choice(["PublicTest", "PrivateTest"], 70))
    write_csv(tested, raw / "test_with_solutions.csv")
