"""Movie Review Sentiment Analysis: how does a phrase of a film review sound, from negative to positive?"""

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import read_csv, sample_of, split_rows, split_values, write_csv
from podium.metrics import accuracy
from podium.task import Columns, competition

task = competition(
    "movie-review-sentiment-analysis-kernels-only",
    title="Movie Review Sentiment Analysis",
    kind="text classification",
    metric=accuracy,
    submission=Columns(
        id="PhraseId", target="Sentiment", values=int, sample="sampleSubmission.csv", answers="answers.csv"
    ),
    known_leaks="Phrases of one sentence have neighbouring ids, and similar sentiments.",
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path, *, fixed: bool = False) -> None:
    # As in MLE-bench, phrases such as "None" are read as missing in v1.
    phrases = read_csv(raw / "train.tsv.zip", sep="\t", keep_default_na=not fixed)
    train, test = split_values(phrases, "SentenceId", 0.3) if fixed else split_rows(phrases, 0.3)
    write_csv(train, public / "train.tsv.zip", sep="\t")
    write_csv(test.drop(columns="Sentiment"), public / "test.tsv.zip", sep="\t")
    write_csv(sample_of(test, "PhraseId", Sentiment=2), public / "sampleSubmission.csv")
    write_csv(test, private / "answers.csv")


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    tones = {"awful": -2, "dull": -1, "the film": 0, "None": 0, ", it 's": 0, "amusing": 1, "brilliant": 2}
    rows: list[tuple[int, int, str, int]] = []
    for sentence in range(1, 61):
        words = rng.choice(list(tones), 6).tolist()
        for length in range(len(words), 0, -1):
            sentiment = min(max(2 + sum(tones[word] for word in words[:length]), 0), 4)
            rows.append((len(rows) + 1, sentence, " ".join(words[:length]), sentiment))
    table = pd.DataFrame(rows, columns=["PhraseId", "SentenceId", "Phrase", "Sentiment"])
    write_csv(table, raw / "train.tsv.zip", sep="\t")


task.fixed(
    "All phrases of a sentence fall on the same side of the split, and phrases such as 'None' are kept.",
    prepare=partial(prepare, fixed=True),
)
