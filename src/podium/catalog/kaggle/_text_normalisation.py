"""What the English and the Russian text normalisation challenge share; each adds its file names and examples."""

import csv
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.archives import write_zip
from podium.data.retyping import retyped
from podium.data.split import split_values
from podium.data.tables import read_csv, renumber, write_csv
from podium.metrics import accuracy
from podium.task import Columns, Task, competition

Token = tuple[str, str, str]
"""Class, written form, spoken form."""


def normalisation_challenge(task_id: str, *, title: str, language: str, examples: list[Token]) -> Task:
    """The challenge in one language, which is the prefix of its file names."""
    sample = f"{language}_sample_submission_2.csv.zip"
    task = competition(
        task_id,
        title=title,
        kind="text normalisation",
        metric=accuracy,
        submission=Columns(id="id", target="after", values=str, sample=sample, answers="answers.csv"),
    )
    task.prepare(partial(_prepare, language=language))
    task.score(_score)
    task.fabricate(partial(_fabricate, language=language, examples=examples))
    task.fixed(
        "Tokens such as NA and null, which pandas takes for missing, keep their text instead of becoming blank.",
        prepare=partial(_prepare, language=language, keep_default_na=False),
        score=None,
    )
    return task


def _prepare(raw: Path, public: Path, private: Path, *, language: str, keep_default_na: bool = True) -> None:
    tokens = read_csv(raw / f"{language}_train.csv.zip", keep_default_na=keep_default_na)
    train, test = (
        part.assign(sentence_id=renumber(part["sentence_id"])) for part in split_values(tokens, "sentence_id", 0.1)
    )
    ids = test["sentence_id"].astype(str) + "_" + test["token_id"].astype(str)
    sample = pd.DataFrame({"id": ids, "after": test["before"]})
    _write_zipped(train, public / f"{language}_train.csv.zip")
    _write_zipped(test[["sentence_id", "token_id", "before"]], public / f"{language}_test_2.csv.zip")
    _write_zipped(sample, public / f"{language}_sample_submission_2.csv.zip")
    write_csv(sample, private / "sample_submission.csv", quoting=csv.QUOTE_NONNUMERIC)
    write_csv(sample.assign(after=test["after"]), private / "answers.csv", quoting=csv.QUOTE_NONNUMERIC)


def _write_zipped(table: pd.DataFrame, path: Path) -> None:
    write_zip(path, [(path.stem, table.to_csv(index=False, quoting=csv.QUOTE_NONNUMERIC).encode())])


def _score(answers: pd.DataFrame, submission: pd.DataFrame) -> float:
    # Where the answer was lost as missing, NA, null or nan count as right, as in MLE-bench.
    return accuracy(answers["after"], retyped(submission["after"]))


def _fabricate(raw: Path, rng: np.random.Generator, *, language: str, examples: list[Token]) -> None:
    lengths = rng.integers(3, 10, 220)
    rows = rng.integers(len(examples), size=lengths.sum())
    table = pd.DataFrame([examples[row] for row in rows], columns=["class", "before", "after"])
    table.insert(0, "sentence_id", np.repeat(np.arange(len(lengths)), lengths))
    table.insert(1, "token_id", table.groupby("sentence_id").cumcount())
    _write_zipped(table, raw / f"{language}_train.csv.zip")
