"""Feedback: how well do learners of English write, on six scales?"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import hex_ids, read_csv, split_in_order, write_csv, write_parts
from podium.data.fetch.kaggle_download import download
from podium.metrics import rmse
from podium.task import Columns, Starter, research_task

SCALES = ("cohesion", "syntax", "vocabulary", "phraseology", "grammar", "conventions")
FORM = Columns(id="text_id", target=SCALES, values=float)
KNOWN_SHARE = 0.98

task = research_task(
    "feedback",
    title="Feedback on learners' essays (MLAgentBench)",
    kind="text regression",
    metric=rmse.using(title="MCRMSE"),
    submission=replace(FORM, id=()),
    starter=Starter(folder=Path(__file__).with_suffix(""), script="train.py"),
)


@task.fetch
def fetch(raw: Path) -> None:
    download("feedback-prize-english-language-learning", raw)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    essays = read_csv(raw / "train.csv", dtype=str, keep_default_na=False).sample(frac=1, random_state=42)
    known, hidden = split_in_order(essays, KNOWN_SHARE)
    guess = known[list(SCALES)].astype(float).mean().round(2).to_dict()
    write_parts(FORM, (known, hidden), public, private, guess=guess, hidden=list(SCALES))


task.fixed(
    "Rows are joined by their id; the original compared them by position, and its starter wrote 0, 1, 2, … as ids.",
    submission=FORM,
)


PLAIN = [
    *("i", "think", "school", "is", "good", "because", "my", "friend", "and", "teacher", "help", "me", "to", "learn"),
    *("new", "thing", "every", "day", "in", "class"),
]
RICH = ["nevertheless", "perseverance", "considerable", "confidence", "whereas", "hesitation", "genuine", "ambition"]
JOINTS = ["However,", "Therefore,", "In addition,", "For instance,", "As a result,"]
SLIPS = {"because": "becuase", "friend": "freind", "think": "thinks", "learn": "lern", "is": "are", "class": "clas"}


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    count = 1000
    skill = rng.normal(0, 1, count)
    # Six views of one skill; words, joints and slips of the essay show them.
    views = 0.7 * skill[:, None] + rng.normal(0, 0.7, (count, len(SCALES)))
    scores = np.clip(np.round((3.1 + 0.65 * views) * 2) / 2, 1, 5)
    table = pd.DataFrame(scores, columns=list(SCALES))
    table.insert(0, "text_id", hex_ids(rng, count))
    table.insert(1, "full_text", [_essay(view, rng) for view in views])
    write_csv(table, raw / "train.csv")


def _essay(view: np.ndarray, rng: np.random.Generator) -> str:
    joined, length, rich, _, wrong, shouted = 1 / (1 + np.exp(-1.2 * view * [1, 1, 1, 1, -1, -1]))
    return "\n\n".join(
        " ".join(
            _sentence(rng, joined=joined, length=length, rich=rich, wrong=wrong, shouted=shouted) for _ in range(4)
        )
        for _ in range(3)
    )


def _sentence(
    rng: np.random.Generator, *, joined: float, length: float, rich: float, wrong: float, shouted: float
) -> str:
    count = 4 + rng.poisson(10 * length)
    words = np.where(rng.random(count) < rich / 2, rng.choice(RICH, count), rng.choice(PLAIN, count)).tolist()
    words = [
        SLIPS.get(word, word) if chance < wrong else word for word, chance in zip(words, rng.random(count), strict=True)
    ]
    start = [str(rng.choice(JOINTS))] if rng.random() < joined else []
    text = " ".join([*start, *words])
    return text if rng.random() < shouted else text[0].upper() + text[1:] + "."
