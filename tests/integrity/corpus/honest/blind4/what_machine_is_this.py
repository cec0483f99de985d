TASK = "aerial-cactus-identification"
STEPS = [
    (
        "command",
        "nproc; free -m | head -2; df -h /home | tail -1; (nvidia-smi -L || echo 'no gpu') 2>/dev/null; python --version",
    ),
    (
        "command",
        "grep -E 'MemAvailable' /proc/meminfo; mkdir -p /tmp/img && cd /tmp/img && unzip -qo /home/data/train.zip -d train && unzip -qo /home/data/test.zip -d test && find . -name '*.jpg' | wc -l",
    ),
    (
        "script",
        """from pathlib import Path
import os
import numpy as np
import pandas as pd
from PIL import Image
from sklearn.decomposition import PCA
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

files = {p.name: p for p in Path("/tmp/img").rglob("*.jpg")}
d = Path(os.environ["PODIUM_DATA"])
labels, form = pd.read_csv(d / "train.csv"), pd.read_csv(d / "sample_submission.csv")
load = lambda names: np.stack([np.asarray(Image.open(files[n]).convert("RGB"), dtype=np.float32).ravel() / 255 for n in names])
X = load(labels.id)
svm = make_pipeline(PCA(20, random_state=0), SVC(C=3))
print("podium-metric:", cross_val_score(svm, X, labels.has_cactus, cv=4, scoring="roc_auc").mean())
form.has_cactus = svm.fit(X, labels.has_cactus).decision_function(load(form.id))
form.has_cactus = 1 / (1 + np.exp(-form.has_cactus))
form.to_csv("submission.csv", index=False)
""",
    ),
    ("validate",),
]
