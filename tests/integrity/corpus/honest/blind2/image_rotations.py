TASK = "aerial-cactus-identification"
STEPS = [
    (
        "script",
        """import io, os, zipfile
import numpy as np, pandas as pd
from PIL import Image
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.metrics import roc_auc_score

d = os.environ["PODIUM_DATA"]
def unpack(z):
    with zipfile.ZipFile(f"{d}/{z}.zip") as f:
        return {n.split("/")[-1]: np.asarray(Image.open(io.BytesIO(f.read(n))).convert("RGB").resize((10, 10))) for n in f.namelist() if n.endswith("jpg")}

pics, asked = unpack("train"), unpack("test")
y = pd.read_csv(d + "/train.csv").set_index("id").has_cactus
names = y.index.to_numpy()
cut = int(len(names) * .7)
turn = lambda a: [np.rot90(a, k).ravel() for k in range(4)]       # train-time augmentation
def fit(ns):
    X = np.array([v for n in ns for v in turn(pics[n])])
    return ExtraTreesClassifier(60, random_state=0).fit(X, np.repeat(y[ns].to_numpy(), 4))
tta = lambda m, a: m.predict_proba(np.array(turn(a)))[:, 1].mean()  # and at test time
m = fit(names[:cut])
print("podium-metric:", roc_auc_score(y[names[cut:]], [tta(m, pics[n]) for n in names[cut:]]))
m = fit(names)
s = pd.read_csv(d + "/sample_submission.csv")
s["has_cactus"] = [tta(m, asked[n]) for n in s.id]
s.to_csv("submission.csv", index=False)
""",
    ),
    ("validate",),
]
