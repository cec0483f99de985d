"""Predicts the six scores of essays. The model is still missing: fill in `train` and `predict`."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

SCALES = ["cohesion", "syntax", "vocabulary", "phraseology", "grammar", "conventions"]


def train(texts: pd.Series, scores: pd.DataFrame) -> Any:
    """The model that `predict` will use. TODO: there is none yet."""
    return None


def predict(model: Any, texts: pd.Series) -> np.ndarray:
    """Six scores for each text. TODO: these are random numbers."""
    return np.random.rand(len(texts), len(SCALES))


def errors(truth: pd.DataFrame, predictions: np.ndarray) -> dict[str, float]:
    """The root mean squared error of each scale."""
    squares = (truth[SCALES].to_numpy() - predictions) ** 2
    return dict(zip(SCALES, np.sqrt(squares.mean(axis=0)), strict=True))


if __name__ == "__main__":
    essays = pd.read_csv("data/train.csv")
    known, held_out = train_test_split(essays, test_size=0.1, random_state=42)
    model = train(known["full_text"], known[SCALES])

    found = errors(held_out, predict(model, held_out["full_text"]))
    for scale, error in found.items():
        print(f"{scale}: RMSE {error:.4f}")
    print(f"MCRMSE: {np.mean(list(found.values())):.4f}")

    test = pd.read_csv("data/test.csv")
    submission = pd.DataFrame(predict(model, test["full_text"]), columns=SCALES)
    submission.insert(0, "text_id", test["text_id"])
    Path("submission").mkdir(exist_ok=True)
    submission.to_csv("submission/submission.csv", index=False)
