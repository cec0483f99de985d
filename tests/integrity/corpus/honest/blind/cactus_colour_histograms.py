"""Reads pictures from the zip files and trains on histograms of their colours."""

TASK = "aerial-cactus-identification"
STEPS = [
    ("command", "python -c \"import zipfile; print(zipfile.ZipFile('data/train.zip').namelist()[:5])\""),
    (
        "script",
        """import io, os, zipfile
import numpy as np
import pandas as pd
from PIL import Image
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_predict

root = os.environ["PODIUM_DATA"]
BINS = [0, 32, 64, 96, 128, 160, 192, 224, 256]


def histograms(archive, names):
    rows = []
    with zipfile.ZipFile(f"{root}/{archive}") as bundle:
        for name in names:
            pixels = np.asarray(Image.open(io.BytesIO(bundle.read(name))).convert("RGB"))
            rows.append(np.concatenate([np.histogram(pixels[..., c], BINS)[0] for c in range(3)]))
    return np.array(rows) / 1024


labels = pd.read_csv(f"{root}/train.csv")
sample = pd.read_csv(f"{root}/sample_submission.csv")
x, x_test = histograms("train.zip", labels["id"]), histograms("test.zip", sample["id"])
model = RandomForestClassifier(100, random_state=42)
oof = cross_val_predict(model, x, labels["has_cactus"], cv=5, method="predict_proba")[:, 1]
sample["has_cactus"] = model.fit(x, labels["has_cactus"]).predict_proba(x_test)[:, 1]
sample.to_csv("submission.csv", index=False)
print(f"podium-metric: {roc_auc_score(labels['has_cactus'], oof):.4f}")
""",
    ),
]
