"""Shared parts of the English and Russian text normalisation challenges, which add file names and examples."""

from csv import QUOTE_NONNUMERIC
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import read_csv, renumber, split_values, write_csv
from podium.metrics import accuracy
from podium.task import Columns, Task, Text, competition


def normalisation_challenge(task_id: str, *, title: str, language: str, examples: list[str]) -> Task:
    """Return the challenge in one language, which is the prefix of its file names.

    Args:
        examples: Tokens for miniatures: class, written form and spoken form, with tabs between them.
    """
    sample = f"{language}_sample_submission_2.csv.zip"
    # Where the answer was lost as missing, NA, null or nan count as right, as in MLE-bench.
    form = Columns(id="id", target="after", values=Text(retyped=True), sample=sample, answers="answers.csv")
    task = competition(
        task_id,
        title=title,
        kind="text normalisation",
        metric=accuracy,
        submission=form,
        known_leaks="Ids are places in a text, and the rows of a sentence follow each other.",
    )
    task.prepare(partial(_prepare, language=language))
    task.fabricate(partial(_fabricate, language=language, examples=examples))
    task.fixed(
        "Tokens such as NA and null, which pandas takes for missing, keep their text instead of becoming blank.",
        prepare=partial(_prepare, language=language, keep_default_na=False),
        submission=replace(form, values=str),
    )
    return task


def _prepare(raw: Path, public: Path, private: Path, *, language: str, keep_default_na: bool = True) -> None:
    tokens = read_csv(raw / f"{language}_train.csv.zip", keep_default_na=keep_default_na)
    train, test = (
        part.assign(sentence_id=renumber(part["sentence_id"])) for part in split_values(tokens, "sentence_id", 0.1)
    )
    ids = test["sentence_id"].astype(str) + "_" + test["token_id"].astype(str)
    sample = pd.DataFrame({"id": ids, "after": test["before"]})
    for table, path in (
        (train, public / f"{language}_train.csv.zip"),
        (test[["sentence_id", "token_id", "before"]], public / f"{language}_test_2.csv.zip"),
        (sample, public / f"{language}_sample_submission_2.csv.zip"),
        (sample, private / "sample_submission.csv"),
        (sample.assign(after=test["after"]), private / "answers.csv"),
    ):
        write_csv(table, path, quoting=QUOTE_NONNUMERIC)


def _fabricate(raw: Path, rng: np.random.Generator, *, language: str, examples: list[str]) -> None:
    lengths = rng.integers(3, 10, 220)
    rows = rng.integers(len(examples), size=lengths.sum())
    table = pd.DataFrame([examples[row].split("\t") for row in rows], columns=["class", "before", "after"])
    table.insert(0, "sentence_id", np.repeat(np.arange(len(lengths)), lengths))
    table.insert(1, "token_id", table.groupby("sentence_id").cumcount())
    write_csv(table, raw / f"{language}_train.csv.zip", quoting=QUOTE_NONNUMERIC)
