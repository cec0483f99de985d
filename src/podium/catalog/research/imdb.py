"""IMDb reviews, MLAgentBench's way: does a review praise the film or not?"""

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from podium.catalog.research._distilbert import write_model
from podium.data.building_blocks import WORDS, link_file, link_tree, read_csv, write_answers, write_csv
from podium.data.fetch.hugging_face import fetch_from_hub
from podium.data.formats.parquet_json import read_parquet
from podium.metrics import accuracy
from podium.safefs.remove_tree import remove_tree
from podium.task import Baseline, Columns, Starter, research_task

DATASET, DATASET_REVISION = "stanfordnlp/imdb", "e6281661ce1c48d982bc483cf8a173c1bbeb5d31"
MODEL, MODEL_REVISION = "distilbert/distilbert-base-uncased", "12040accade4e8a0f71eabdb258fecc2e7e948be"
PARTS = ("train", "test", "unsupervised")
MODEL_FILES = ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json", "vocab.txt")
PRAISE = ["wonderful", "moving", "funny", "brilliant", "charming", "gripping"]
BLAME = ["dull", "clumsy", "boring", "awful", "shallow", "tedious"]
"""Number of reviews of the miniature."""
CLASSES = ("0", "1")
FORM = Columns(id="idx", target=CLASSES, values=float)

task = research_task(
    "imdb",
    title="IMDb reviews (MLAgentBench)",
    kind="text classification",
    metric=accuracy,
    # The original looks rows up by their idx, and never at any others.
    submission=replace(FORM, extra_rows=True),
    starter=Starter(folder=Path(__file__).with_suffix(""), script="train.py"),
    # The starter has no model. The original counts from a guess, and so does the fixed edition.
    reference=Baseline(0.5),
)


@task.fetch
def fetch(raw: Path) -> None:
    fetch_from(raw)


def fetch_from(raw: Path, endpoint: str | None = None) -> None:
    """Download the reviews and the model; `endpoint` is another site with the hub's API."""
    reviews = raw / "reviews"
    files = {part: f"plain_text/{part}-00000-of-00001.parquet" for part in PARTS}
    fetch_from_hub(DATASET, files.values(), reviews, is_dataset=True, revision=DATASET_REVISION, endpoint=endpoint)
    fetch_from_hub(MODEL, MODEL_FILES, raw / "distilbert", revision=MODEL_REVISION, endpoint=endpoint)
    for part, name in files.items():
        write_csv(read_parquet(reviews / name), raw / f"{part}.csv")
    remove_tree(reviews)


@task.prepare
def prepare(raw: Path, public: Path, private: Path) -> None:
    test = read_csv(raw / "test.csv", dtype={"text": str}, keep_default_na=False)
    # The dataset lists all negative reviews first: the order must not tell, nor may a known seed undo it.
    order = test["text"].map(lambda text: hashlib.sha256(text.encode()).hexdigest()).sort_values(kind="stable").index
    test = test.loc[order].reset_index(drop=True).rename_axis("idx").reset_index()
    write_csv(test[["idx", "text"]], public / "test.csv")
    write_answers(FORM, test[["idx", "label"]], public, private, guess=0.5)
    link_file(raw / "train.csv", public / "train.csv")
    write_csv(read_csv(raw / "unsupervised.csv", keep_default_na=False)[["text"]], public / "unsupervised.csv")
    link_tree(raw / "distilbert", public / "distilbert")


@task.score
def score(answers: pd.DataFrame, submission: pd.DataFrame) -> float:
    return accuracy(answers["label"], submission[list(CLASSES)].to_numpy().argmax(axis=1))


@task.fabricate
def fabricate(raw: Path, rng: np.random.Generator) -> None:
    """Fabricate reviews with positive and negative words, in which "not" negates the next one, and a tiny model."""
    for part, count in (("train", 600), ("test", 300), ("unsupervised", 200)):
        # All negative ones first, as in the dataset.
        labels = np.sort(np.arange(count) % 2)
        reviews = pd.DataFrame({"text": [_review(rng, label) for label in labels], "label": labels})
        write_csv(reviews if part != "unsupervised" else reviews.assign(label=-1), raw / f"{part}.csv")
    write_model(raw / "distilbert", [*WORDS, *PRAISE, *BLAME, "this", "film", "br", *":.</>"], rng)


def _review(rng: np.random.Generator, label: int) -> str:
    words = list(rng.choice(WORDS, rng.integers(15, 50)))
    for _ in range(5):
        is_true, is_turned = rng.random() < 0.8, rng.random() < 0.3
        said = rng.choice(PRAISE if (bool(label) == is_true) != is_turned else BLAME)
        words.insert(rng.integers(len(words)), f"not {said}" if is_turned else said)
    return f"This film: {' '.join(words)}.<br /><br />" + ("Yes." if rng.random() < 0.5 else "No.")


task.fixed(
    "Rows are joined by their idx, each once and no others; the original also passes over rows it does not know. "
    "Where a submission is as described, both give the same score.",
    submission=FORM,
)
