"""Adds mirrored training pictures within each fold and averages predictions over mirrored test pictures."""

TASK = "aerial-cactus-identification"
STEPS = [
    (
        "script",
        """import io, os, zipfile
import numpy as np
import pandas as pd
from PIL import Image
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

root = os.environ["PODIUM_DATA"]
labels, sample = pd.read_csv(f"{root}/train.csv"), pd.read_csv(f"{root}/sample_submission.csv")


def load(archive, names):
    with zipfile.ZipFile(f"{root}/{archive}") as z:
        return np.stack([np.asarray(Image.open(io.BytesIO(z.read(n))).resize((12, 12)), float) for n in names]) / 255


FLIPS = [lambda a: a, lambda a: a[:, ::-1], lambda a: a[:, :, ::-1]]
flat = lambda a: a.reshape(len(a), -1)


def fit(x, y):
    return LogisticRegression(C=0.1, max_iter=400).fit(np.concatenate([flat(f(x)) for f in FLIPS]), np.tile(y, len(FLIPS)))


def predict(model, x):
    return np.mean([model.predict_proba(flat(f(x)))[:, 1] for f in FLIPS], axis=0)


x, y = load("train.zip", labels["id"]), labels["has_cactus"].to_numpy()
oof = np.zeros(len(y))
for a, b in StratifiedKFold(4, shuffle=True, random_state=42).split(x, y):
    oof[b] = predict(fit(x[a], y[a]), x[b])
sample["has_cactus"] = predict(fit(x, y), load("test.zip", sample["id"]))
sample.to_csv("submission.csv", index=False)
print(f"podium-metric: {roc_auc_score(y, oof):.4f}")
""",
    ),
]
