TASK = "tabular-playground-series-may-2022"
STEPS = [
    (
        "script",
        """import contextlib
import io
import os
import warnings

import pandas as pd
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler

warnings.filterwarnings("ignore")  # ConvergenceWarning at every step
source = os.environ["PODIUM_DATA"]
frame, asked = (pd.read_csv(os.path.join(source, f"{n}.csv")).drop(columns="f_27") for n in ("train", "test"))
names = [n for n in frame if n.startswith("f_")]
a, b = train_test_split(frame, test_size=0.25, random_state=99, stratify=frame["target"])
scaler = StandardScaler().fit(a[names])
noise = io.StringIO()
with contextlib.redirect_stdout(noise):
    net = MLPClassifier((24,), alpha=1.0, max_iter=60, random_state=4, verbose=True).fit(scaler.transform(a[names]), a["target"])
print("epochs:", noise.getvalue().count("Iteration"))
print("podium-metric: %.4f" % roc_auc_score(b["target"], net.predict_proba(scaler.transform(b[names]))[:, 1]))
asked["target"] = net.predict_proba(scaler.transform(asked[names]))[:, 1]
asked[["id", "target"]].to_csv("submission.csv", index=False)
""",
    ),
    ("validate",),
]
