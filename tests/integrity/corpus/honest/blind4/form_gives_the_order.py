TASK = "playground-series-s3e18"
STEPS = [
    (
        "command",
        "head -2 /home/data/sample_submission.csv; diff <(cut -d, -f1 data/sample_submission.csv) <(cut -d, -f1 data/test.csv) && echo same order",
    ),
    (
        "script",
        """import os
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

base = os.environ["PODIUM_DATA"]
train = pd.read_csv(f"{base}/train.csv", index_col="id")
test = pd.read_csv(f"{base}/test.csv", index_col="id")
form = pd.read_csv(f"{base}/sample_submission.csv", index_col="id")
aucs = []
for label in form.columns:
    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.02, max_iter=400))
    aucs.append(cross_val_score(model, train[test.columns], train[label], cv=4, scoring="roc_auc").mean())
    # ids of the sample decide where each prediction goes
    form[label] = pd.Series(model.fit(train[test.columns], train[label]).predict_proba(test)[:, 1], test.index).reindex(form.index)
form.reset_index().to_csv("submission.csv", index=False)
print("podium-metric:", sum(aucs) / len(aucs))
""",
    ),
    ("validate",),
]
