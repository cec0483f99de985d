"""Makes a web page of training pictures in base64 to look at them, then trains a model on pixels."""

TASK = "aerial-cactus-identification"
STEPS = [
    (
        "session",
        """import base64, csv, zipfile
labels = dict(list(csv.reader(open("/home/data/train.csv")))[1:])
bundle = zipfile.ZipFile("/home/data/train.zip")
tiles = []
for name in list(labels)[:12]:
    code = base64.b64encode(bundle.read(name)).decode()
    tiles.append(f'<img title="{labels[name]}" src="data:image/jpeg;base64,{code}">')
open("/home/code/sheet.html", "w").write("\\n".join(tiles))
print(len(tiles), "tiles;", tiles[0][:120])
assert base64.b64decode(tiles[0].split("base64,")[1].rstrip('">')) == bundle.read(list(labels)[0])
""",
    ),
    (
        "script",
        """import io, os, zipfile
import numpy as np
import pandas as pd
from PIL import Image
from sklearn.decomposition import PCA
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

root = os.environ["PODIUM_DATA"]
labels, sample = pd.read_csv(f"{root}/train.csv"), pd.read_csv(f"{root}/sample_submission.csv")


def pixels(archive, names):
    bundle = zipfile.ZipFile(f"{root}/{archive}")
    return np.stack([np.asarray(Image.open(io.BytesIO(bundle.read(n))).resize((16, 16))).ravel() for n in names]) / 255


x = pixels("train.zip", labels["id"])
model = make_pipeline(PCA(20, random_state=0), SVC(C=3))
margin = cross_val_predict(model, x, labels["has_cactus"], cv=5, method="decision_function")
raw = model.fit(x, labels["has_cactus"]).decision_function(pixels("test.zip", sample["id"]))
sample["has_cactus"] = 1 / (1 + np.exp(-raw))
sample.to_csv("submission.csv", index=False)
print(f"podium-metric: {roc_auc_score(labels['has_cactus'], margin):.4f}")
""",
    ),
]
