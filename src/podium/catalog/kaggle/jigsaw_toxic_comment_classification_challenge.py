"""Toxic Comment Classification Challenge: in which ways is a comment toxic?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import RAW_ORDER, hex_ids, read_csv, sentences, write_csv, write_parts
from podium.metrics import roc_auc
from podium.task import Columns, competition

LABELS = ["toxic", "severe_toxic", "obscene", "threat", "insult", "identity_hate"]

task = competition(
    "jigsaw-toxic-comment-classification-challenge",
    title="Toxic Comment Classification Challenge",
    kind="text classification",
    metric=roc_auc.using(title="Mean column-wise ROC AUC"),
    # MLE-bench takes the columns in the order of the file, whatever their names; here the names count.
    submission=Columns(id="id", target=tuple(LABELS), values=float),
    known_leaks=RAW_ORDER,
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    train, test, labels = (read_csv(raw / f"{name}.csv.zip") for name in ("train", "test", "test_labels"))
    write_parts(task.form, (train, test), public, private, guess=0.5, hidden=[], answers=labels)


@task.score
def score(answers: pd.DataFrame, submission: pd.DataFrame) -> float:
    graded = answers[LABELS].sum(axis=1) >= 0  # the others have -1 in all columns
    return roc_auc(answers.loc[graded, LABELS], submission.loc[graded, LABELS])


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    count, tested = 300, 120
    flags = (rng.random((count, len(LABELS))) < 0.15).astype(int)
    words = np.array(["rotten", "ROTTEN!!!", "filthy", "i'll find you", "idiot", "you people"])
    shown = flags.astype(bool) ^ (rng.random(flags.shape) < 0.05)
    texts = [" ".join([text, *words[row]]) for text, row in zip(sentences(rng, count), shown, strict=True)]
    table = pd.DataFrame({"id": hex_ids(rng, count, 16), "comment_text": texts})
    table[LABELS] = flags
    write_csv(table[tested:], raw / "train.csv.zip")
    write_csv(table.loc[: tested - 1, ["id", "comment_text"]], raw / "test.csv.zip")
    table.loc[rng.random(count) < 0.3, LABELS] = -1
    write_csv(table[:tested].drop(columns="comment_text"), raw / "test_labels.csv.zip")
