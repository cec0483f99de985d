"""chaii: which words of a Hindi or Tamil article answer the question?"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import hex_ids, read_csv, sample_of, sentences, split_rows, write_csv, write_parts
from podium.metrics import word_jaccard
from podium.task import Columns, competition

task = competition(
    "chaii-hindi-and-tamil-question-answering",
    title="chaii: Hindi and Tamil Question Answering",
    kind="extractive question answering",
    metric=word_jaccard.using(both_empty=0.0),
    submission=Columns(id="id", target="PredictionString", values=str),
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    # An answer such as "null" is read as missing: as in MLE-bench, nobody can score on that row.
    train, test = split_rows(read_csv(raw / "train.csv"), 0.1)
    answers = sample_of(test, "id", PredictionString=test["answer_text"])
    hidden = ["answer_text", "answer_start"]
    write_parts(task.form, (train, test), public, private, guess="dummy text", hidden=hidden, answers=answers)


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    languages = rng.choice(["hindi", "tamil"], 120, p=[0.67, 0.33])
    alphabets = {"hindi": "कखगघचछजझटठडढतथदधनपफबभमयरलवशसह", "tamil": "கஙசஞடணதநபமயரலவழளறன"}
    vocabularies = {name: sentences(rng, 40, words=5, vocabulary=letters) for name, letters in alphabets.items()}
    rows = []
    for language in languages:
        words = rng.permutation([word.replace(" ", "") for word in vocabularies[language]])
        start = int(rng.integers(25))
        answer = " ".join(words[start + 1 : start + 3])
        context = " ".join(words[:30]) + "\n" + " ".join(words[30:])
        rows.append((context, f"{words[start]} ?", answer, context.find(answer), language))
    table = pd.DataFrame(rows, columns=["context", "question", "answer_text", "answer_start", "language"])
    table.insert(0, "id", hex_ids(rng, len(table), 9))
    write_csv(table, raw / "train.csv")
