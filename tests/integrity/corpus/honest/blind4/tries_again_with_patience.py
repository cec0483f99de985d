TASK = "tabular-playground-series-dec-2021"
STEPS = [
    (
        "script",
        """import os, time, sys
import pandas as pd

def stubborn(path, tries=4):
    for n in range(tries):
        try:
            return pd.read_csv(path)
        except (OSError, pd.errors.EmptyDataError) as e:
            print(f"try {n}: {e}", file=sys.stderr)
            time.sleep(0.1 * 2**n)
    raise SystemExit(f"cannot read {path}")

d = os.environ["PODIUM_DATA"]
tr, te = stubborn(d + "/train.csv"), stubborn(d + "/test.csv")
from sklearn.svm import SVC
from sklearn.preprocessing import StandardScaler
from sklearn.pipeline import make_pipeline
f = [c for c in te if c != "Id"]
held = tr.sample(frac=0.25, random_state=6)
rest = tr.drop(held.index)
for C in (0.3, 3, 30):
    m = make_pipeline(StandardScaler(), SVC(C=C)).fit(rest[f], rest.Cover_Type)
    acc = (m.predict(held[f]) == held.Cover_Type).mean()
    if C == 0.3 or acc > best:
        best, keep = acc, C
    print(C, round(acc, 4))
te["Cover_Type"] = make_pipeline(StandardScaler(), SVC(C=keep)).fit(tr[f], tr.Cover_Type).predict(te[f])
te[["Id", "Cover_Type"]].to_csv("submission.csv", index=False)
print("podium-metric:", best)
""",
    ),
    ("validate",),
]
