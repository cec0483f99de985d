"""Google QUEST: how do people judge a question and its answer?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import lines_beside, read_csv, sentences, split_rows, write_csv, write_parts
from podium.metrics import spearman
from podium.task import Columns, competition

TARGETS = lines_beside(__file__)
RAREST = "question_type_spelling"

task = competition(
    "google-quest-challenge",
    title="Google QUEST Q&A Labeling",
    kind="text regression",
    metric=spearman,
    submission=Columns(id="qa_id", target=tuple(TARGETS), values=float, extra_columns=False),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    train, test = _with_rarest(*split_rows(read_csv(raw / "train.csv"), 0.1))
    # A constant column would have no correlation.
    ramp = dict.fromkeys(TARGETS, np.linspace(0, 1, len(test)))
    answers = test[["qa_id", *TARGETS]]
    write_parts(task.form, (train, test), public, private, guess=ramp, hidden=TARGETS, answers=answers)


def _with_rarest(train: pd.DataFrame, test: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Swap one row if the rarest target would be constant in the test part, so that it can be scored."""
    if test[RAREST].nunique() > 1:
        return train, test
    place = int(np.argmax(train[RAREST] != 0))
    exchanged = pd.concat([train[:place], test[:1], train[place + 1 :]])
    return exchanged, pd.concat([train[place : place + 1], test[1:]])


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    count = 200
    hosts = rng.choice(["stackoverflow.com", "english.stackexchange.com", "photo.stackexchange.com"], count)
    people = dict(zip(("question", "answer"), rng.integers(50, size=(2, count)), strict=True))
    table = pd.DataFrame({"qa_id": np.arange(count) * 3, "answer": sentences(rng, count, words=40), "host": hosts})
    table["question_title"] = sentences(rng, count)
    table["question_body"] = sentences(rng, count, words=30)
    for role, numbers in people.items():
        table[f"{role}_user_name"] = [f"user{number}" for number in numbers]
        table[f"{role}_user_page"] = "https://" + table["host"] + "/users/" + numbers.astype(str)
    table["url"] = "http://" + table["host"] + "/questions/" + table["qa_id"].astype(str)
    table["category"] = np.where(hosts == "stackoverflow.com", "STACKOVERFLOW", "CULTURE")
    length = table["answer"].str.len().to_numpy() / 400
    ratings = np.clip(length[:, None] + rng.normal(0, 0.3, (count, len(TARGETS))), 0, 1)
    table[TARGETS] = np.round(ratings * 3) / 3
    table[RAREST] = np.where(np.arange(count) % 67 == 9, 2 / 3, 0.0)
    write_csv(table, raw / "train.csv")
