"""U.S. Patent Phrase to Phrase Matching: how similar in meaning are two phrases from patents?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import WORDS, hex_ids, split_table, write_csv
from podium.metrics import pearson
from podium.task import Columns, competition

task = competition(
    "us-patent-phrase-to-phrase-matching",
    title="U.S. Patent Phrase to Phrase Matching",
    kind="text regression",
    metric=pearson,
    submission=Columns(id="id", target="score", values=float),
)
# A constant sample has no correlation and cannot be graded.
split_table(task, 0.1, guess=0, hidden="score")


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    shared = rng.choice(5, 280, p=[0.20, 0.31, 0.34, 0.11, 0.04])
    words = [rng.permutation(WORDS)[:8] for _ in shared]
    pairs = [(" ".join(row[:4]), " ".join(row[4 - same : 8 - same])) for row, same in zip(words, shared, strict=True)]
    table = pd.DataFrame(pairs, columns=["anchor", "target"])
    table.insert(0, "id", hex_ids(rng, len(table), 16))
    table["context"] = [f"{section}{rng.integers(1, 100):02d}" for section in rng.choice(list("ABCDEFGH"), len(table))]
    table["score"] = shared / 4
    write_csv(table, raw / "train.csv")
