"""LMSYS Chatbot Arena: which of two answers did the person prefer?"""

import json
from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import one_hot, sentences, split_table, write_csv
from podium.metrics import log_loss
from podium.task import Columns, Number, competition

WINNERS = ["winner_model_a", "winner_model_b", "winner_tie"]

task = competition(
    "lmsys-chatbot-arena",
    title="LMSYS: Chatbot Arena Human Preference Predictions",
    kind="text classification",
    metric=log_loss,
    # The sum of a row is rounded to 6 decimals.
    submission=Columns(
        id="id", target=tuple(WINNERS), values=Number(0, 1), row_total=1, row_tolerance=5e-7, answers="answers.csv"
    ),
)
split_table(task, 0.1, guess=1 / 3, hidden=["model_a", "model_b", *WINNERS])


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    count = 200
    models = ["gpt-4-1106-preview", "llama-2-13b-chat", "koala-13b", "claude-1"]
    pairs = [rng.choice(models, 2, replace=False) for _ in range(count)]
    table = pd.DataFrame(pairs, columns=["model_a", "model_b"])
    table.insert(0, "id", np.sort(rng.choice(2**32, count, replace=False)))
    for column in ("prompt", "response_a", "response_b"):
        table[column] = [json.dumps(sentences(rng, 1 + number % 2, words=30)) for number in range(count)]
    margin = table["response_a"].str.len() - table["response_b"].str.len() + rng.normal(0, 30, count)
    winner = pd.Series(np.select([margin > 30, margin < -30], WINNERS[:2], WINNERS[2]))
    write_csv(pd.concat([table, one_hot(winner, WINNERS)], axis=1), raw / "train.csv")
