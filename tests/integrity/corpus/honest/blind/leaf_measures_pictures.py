"""Measures area and outline of the leaves in all given pictures and joins that with the table."""

TASK = "leaf-classification"
STEPS = [
    ("command", "ls data/images | wc -l; ls -S data/images | head -3"),
    (
        "script",
        """import os
from pathlib import Path
import numpy as np
import pandas as pd
from PIL import Image
from sklearn.ensemble import ExtraTreesClassifier

data = Path(os.environ["PODIUM_DATA"])


def measure(path):
    leaf = np.asarray(Image.open(path).convert("L")) > 127
    rows, cols = leaf.any(axis=1).sum(), leaf.any(axis=0).sum()
    return {"id": int(path.stem), "area": leaf.mean(), "tall": rows / max(cols, 1), "edge": np.abs(np.diff(leaf * 1)).mean()}


pictures = pd.DataFrame([measure(path) for path in sorted(data.glob("images/*.jpg"), key=lambda p: int(p.stem))])
train = pd.read_csv(data / "train.csv").merge(pictures, on="id", how="left")
test = pd.read_csv(data / "test.csv").merge(pictures, on="id", how="left")
species = pd.read_csv(data / "sample_submission.csv").columns[1:]
columns = [c for c in test.columns if c != "id"]


def predict(fit, frame):
    model = ExtraTreesClassifier(150, random_state=42).fit(fit[columns].fillna(0), fit["species"])
    p = pd.DataFrame(model.predict_proba(frame[columns].fillna(0)), columns=model.classes_, index=frame.index)
    p = p.reindex(columns=species, fill_value=0).clip(1e-3, 1)
    return p.div(p.sum(axis=1), axis=0)


second = train.groupby("species").cumcount() == 1
p = predict(train[~second], train[second])
print(f"podium-metric: {-np.log([p.loc[i, s] for i, s in train[second]['species'].items()]).mean():.4f}")
out = predict(train, test)
out.insert(0, "id", test["id"])
out.to_csv("submission.csv", index=False)
""",
    ),
]
