"""Automated Essay Scoring 2.0: which grade did the essay get?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import hex_ids, sentences, split_table, write_csv
from podium.metrics import quadratic_kappa
from podium.task import Columns, competition

task = competition(
    "learning-agency-lab-automated-essay-scoring-2",
    title="Learning Agency Lab: Automated Essay Scoring 2.0",
    kind="text classification",
    metric=quadratic_kappa,
    submission=Columns(id="essay_id", target="score", values=int, answers="answers.csv"),
)
split_table(task, 0.1, guess=lambda count: np.random.RandomState(42).randint(1, 7, count), hidden="score")


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    scores = rng.choice(np.arange(1, 7), 300, p=[0.10, 0.26, 0.34, 0.20, 0.06, 0.04])
    essays = [". ".join(sentences(rng, score + rng.integers(3))) + ",\n\nperiod." for score in scores]
    table = pd.DataFrame({"essay_id": sorted(hex_ids(rng, 300, 7)), "full_text": essays, "score": scores})
    write_csv(table, raw / "train.csv")
