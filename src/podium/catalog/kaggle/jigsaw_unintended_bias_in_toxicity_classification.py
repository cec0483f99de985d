"""Jigsaw Unintended Bias: is a comment toxic, whoever it is about?"""

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from podium.data.building_blocks import RAW_ORDER, lines_beside, link_file, read_csv, sample_of, sentences, write_csv
from podium.metrics import bias_auc
from podium.task import Columns, competition

IDENTITIES = lines_beside(__file__)
GRADED = IDENTITIES[:9]

task = competition(
    "jigsaw-unintended-bias-in-toxicity-classification",
    title="Jigsaw Unintended Bias in Toxicity Classification",
    kind="text classification",
    metric=bias_auc.using(title="Bias-weighted AUC of predictions cut at 0.5"),
    submission=Columns(
        id="id", target="prediction", values=float, answers_target="toxicity", aliases={"toxicity": "prediction"}
    ),
    known_leaks=RAW_ORDER,
)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    test = read_csv(raw / "test_private_expanded.csv", usecols=["id", "comment_text"])
    link_file(raw / "train.csv", public / "train.csv")
    write_csv(test, public / "test.csv")
    write_csv(sample_of(test, "id", prediction=0.0), public / "sample_submission.csv")
    link_file(raw / "test_private_expanded.csv", private / "test.csv")


@task.score
def score(answers: pd.DataFrame, submission: pd.DataFrame, *, cut: bool = True) -> float:
    # MLE-bench cuts predictions at 0.5 before it ranks them, which leaves little of an AUC.
    prediction = submission["prediction"] >= 0.5 if cut else submission["prediction"]
    identities = answers[GRADED] >= 0.5  # false where nobody was asked
    return bias_auc.using(groups=identities)(answers["toxicity"] >= 0.5, prediction)


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    count, tested = 400, 250
    toxicity = rng.integers(0, 11, count) / 10
    mentions = rng.random((count, 24)) < 0.2
    names = np.array(IDENTITIES)
    texts = [
        " ".join([text, *names[named], *(["you idiot!"] if toxic + rng.normal(0, 0.2) > 0.5 else [])])
        for text, named, toxic in zip(sentences(rng, count), mentions, toxicity, strict=True)
    ]
    table = pd.DataFrame({"id": np.arange(count) * 7 + 59848, "comment_text": texts, "toxicity": toxicity})
    table = table.assign(created_date="2017-03-06 15:21:53.675241+00", rating="approved")
    table[["identity_annotator_count", "toxicity_annotator_count"]] = 4
    table[["publication_id", "parent_id", "article_id"]] = rng.integers(2, 10**6, (count, 3))
    table[["funny", "wow", "sad", "likes", "disagree"]] = rng.poisson(1, (count, 5))
    for kind in ("severe_toxicity", "obscene", "sexual_explicit", "identity_attack", "insult", "threat"):
        table[kind] = (toxicity * rng.random(count)).round(2)
    unrated = rng.random((count, 1)) < 0.3
    table = table.join(pd.DataFrame(np.where(unrated, np.nan, mentions), columns=names))
    write_csv(table[:tested], raw / "test_private_expanded.csv")
    write_csv(table[tested:].rename(columns={"toxicity": "target"}), raw / "train.csv")


task.fixed(
    "Predictions are ranked as they are, not cut at 0.5 first.", score=partial(score, cut=False), metric=bias_auc
)
