"""Classifies film reviews. The model is still missing: fill in the part between the two marks below."""

from pathlib import Path

import pandas as pd
import torch
from sklearn.model_selection import train_test_split

reviews = pd.read_csv("data/train.csv")
test = pd.read_csv("data/test.csv")
train, valid = train_test_split(reviews, test_size=0.1, random_state=42)

model = None
# ---- the open part begins ------------------------------------------------------------------------------------------
# Fine-tune DistilBERT (data/distilbert) on the texts and labels of `train`. Set `model` to a function that takes a
# text and gives a tensor with two scores: how much speaks for class 0 and for class 1.

# ---- the open part ends --------------------------------------------------------------------------------------------
if model is None:
    raise SystemExit("train.py has no model yet: fine-tune one and set `model` in its open part.")


@torch.no_grad()
def probabilities(texts: pd.Series) -> pd.DataFrame:
    """How probable both classes are, a row for each text."""
    rows = [torch.softmax(model(text), dim=-1).tolist() for text in texts]
    return pd.DataFrame(rows, index=texts.index)


found = probabilities(valid["text"]).to_numpy().argmax(axis=1)
print(f"Validation accuracy: {(found == valid['label']).mean():.4f}")

table = probabilities(test["text"]).set_axis(test["idx"], axis=0)
Path("submission").mkdir(exist_ok=True)
table.to_csv("submission/submission.csv", index_label="idx")
