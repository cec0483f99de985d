"""Tweet Sentiment Extraction: which words of a tweet carry its sentiment?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.fabricate import hex_ids, sentences
from podium.data.retyping import retyped
from podium.data.split import split_rows
from podium.data.tables import read_csv, sample_of, write_csv
from podium.metrics import word_jaccard
from podium.task import Columns, competition

task = competition(
    "tweet-sentiment-extraction",
    title="Tweet Sentiment Extraction",
    kind="text span extraction",
    metric=word_jaccard,
    submission=Columns(id="textID", target="selected_text", values=str),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    train, test = split_rows(read_csv(raw / "train.csv"), 0.1)
    write_csv(train, public / "train.csv")
    write_csv(test.drop(columns="selected_text"), public / "test.csv")
    write_csv(sample_of(test, "textID", selected_text=""), public / "sample_submission.csv")
    write_csv(test, private / "test.csv")


@task.score
def score(answers: pd.DataFrame, submission: pd.DataFrame) -> float:
    # NA or null as a whole prediction is a missing one, as in MLE-bench. If the answer is missing too the row counts
    # as right; there, MLE-bench divides by zero.
    return word_jaccard(answers["selected_text"], retyped(submission["selected_text"]))


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    phrases = {
        "positive": ["I LOVE it", "so much fun!", "thanks, really"],
        "negative": ["i hate this", "so sad...", "it`s bullying me"],
        "neutral": ["going home", 'he said "what is it?"'],
    }
    moods = rng.choice(list(phrases), 260)
    chosen = [str(rng.choice(phrases[mood])) for mood in moods]
    before, after = sentences(rng, len(moods), words=5), sentences(rng, len(moods), words=5)
    texts = [f"{first} {phrase}  {last}" for first, phrase, last in zip(before, chosen, after, strict=True)]
    table = pd.DataFrame({"textID": hex_ids(rng, len(moods), 10), "text": texts, "selected_text": chosen})
    table["sentiment"] = moods
    table["selected_text"] = table["selected_text"].where(moods != "neutral", table["text"])
    table.loc[rng.integers(len(table)), ["text", "selected_text"]] = None
    write_csv(table, raw / "train.csv")
