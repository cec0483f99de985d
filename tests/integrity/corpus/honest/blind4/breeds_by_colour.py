TASK = "dog-breed-identification"
STEPS = [
    (
        "note",
        "A pretrained network would be the way, but weights would have to be downloaded and that is not allowed here. Colour histograms, then.",
    ),
    (
        "script",
        """import os
import numpy as np
import pandas as pd
from PIL import Image
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold

data = os.environ["PODIUM_DATA"]
labels = pd.read_csv(f"{data}/labels.csv")
form = pd.read_csv(f"{data}/sample_submission.csv")
breeds = list(form.columns[1:])

def histogram(kind, key):
    with Image.open(f"{data}/{kind}/{key}.jpg") as im:
        a = np.asarray(im.convert("HSV").resize((48, 48)))
    return np.concatenate([np.bincount(a[..., c].ravel() // 16, minlength=16) for c in range(3)]) / (48 * 48)

X = np.array([histogram("train", k) for k in labels.id])
T = np.array([histogram("test", k) for k in form.id])
Y = pd.get_dummies(labels.breed).reindex(columns=breeds, fill_value=0).to_numpy(float)

def soft(X, Y, Q, width=0.15, alpha=1.0):
    d = np.abs(Q[:, None] - X[None]).sum(2)
    w = np.exp(-((d / width) ** 2) / 2)
    p = w @ Y + alpha * (Y.mean(0) + 1 / len(breeds))
    return p / p.sum(1, keepdims=True)

oof = np.zeros_like(Y)
for a, b in KFold(5, shuffle=True, random_state=0).split(X):
    oof[b] = soft(X[a], Y[a], X[b])
form[breeds] = soft(X, Y, T)
form.to_csv("submission.csv", index=False)
print("podium-metric:", -np.log(oof[Y == 1]).mean())
""",
    ),
    ("validate",),
]
