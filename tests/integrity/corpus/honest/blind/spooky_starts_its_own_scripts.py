"""Writes two scripts and starts them with subprocess, one after the other."""

TASK = "spooky-author-identification"
STEPS = [
    (
        "file",
        "code/features.py",
        """import joblib, sys
import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer

source, target = sys.argv[1:]
train, test = pd.read_csv(f"{source}/train.csv"), pd.read_csv(f"{source}/test.csv")
counts = CountVectorizer(min_df=2).fit(train["text"])
joblib.dump((counts.transform(train["text"]), train["author"], counts.transform(test["text"]), test["id"]), target)
print("features:", len(counts.vocabulary_))
""",
    ),
    (
        "file",
        "code/model.py",
        """import joblib, sys
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

x, y, x_test, ids = joblib.load(sys.argv[1])
model = LogisticRegression(C=float(sys.argv[2]), max_iter=300)
print("loss", -cross_val_score(model, x, y, cv=5, scoring="neg_log_loss").mean())
out = pd.DataFrame(model.fit(x, y).predict_proba(x_test), columns=model.classes_)
out.insert(0, "id", list(ids))
out.to_csv(sys.argv[3], index=False)
""",
    ),
    (
        "script",
        """import os, subprocess, sys

data = os.environ["PODIUM_DATA"]
run = lambda *a: subprocess.run([sys.executable, *a], check=True, capture_output=True, text=True).stdout.strip()
print(run("/home/code/features.py", data, "features.joblib"))
losses = {}
for c in ("1", "10"):
    losses[c] = float(run("/home/code/model.py", "features.joblib", c, f"submission_{c}.csv").split()[-1])
    print("C", c, "loss", losses[c])
best = min(losses, key=losses.get)
os.replace(f"submission_{best}.csv", "submission.csv")
print("podium-metric:", losses[best])
""",
    ),
]
