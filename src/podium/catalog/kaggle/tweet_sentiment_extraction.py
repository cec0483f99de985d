"""Tweet Sentiment Extraction: which words of a tweet carry its sentiment?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import hex_ids, sentences, split_table, write_csv
from podium.metrics import word_jaccard
from podium.task import Columns, Text, competition

task = competition(
    "tweet-sentiment-extraction",
    title="Tweet Sentiment Extraction",
    kind="text span extraction",
    metric=word_jaccard,
    # NA or null as a whole prediction is a missing one, as in MLE-bench. If the answer is missing too the row counts
    # as right; there, MLE-bench divides by zero.
    submission=Columns(id="textID", target="selected_text", values=Text(retyped=True)),
)
split_table(task, 0.1, guess="", hidden="selected_text")


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
    table = table.assign(sentiment=moods, selected_text=table["selected_text"].where(moods != "neutral", table["text"]))
    table.loc[rng.integers(len(table)), ["text", "selected_text"]] = None
    write_csv(table, raw / "train.csv")
