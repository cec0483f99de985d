TASK = "denoising-dirty-documents"
STEPS = [
    (
        "note",
        "Would like torchvision weights. There is no network here, so none; a median background does for a start.",
    ),
    (
        "script",
        """import os
from pathlib import Path
import numpy as np
import pandas as pd
from PIL import Image
from scipy.ndimage import median_filter

d = Path(os.environ["PODIUM_DATA"])

def clean(path):
    a = np.asarray(Image.open(path).convert("L"), float) / 255
    paper = median_filter(a, size=9)
    return np.where(a < paper - 0.1, a, 1.0)

errors = []
for p in sorted((d / "train").glob("*.png")):
    goal = np.asarray(Image.open(d / "train_cleaned" / p.name).convert("L"), float) / 255
    errors.append(((clean(p) - goal) ** 2).mean())
sub = pd.read_csv(d / "sampleSubmission.csv")
parts = sub["id"].str.split("_", expand=True).astype(int)
pages = {n: clean(d / "test" / f"{n}.png") for n in parts[0].unique()}
sub["value"] = [pages[n][r - 1, c - 1] for n, r, c in parts.itertuples(index=False)]
sub.to_csv("submission.csv", index=False)
print("podium-metric:", np.sqrt(np.mean(errors)))
""",
    ),
    ("validate",),
]
