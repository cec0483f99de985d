"""Standardises measurements and trains a regularised regression over 99 species, named as in the sample."""

TASK = "leaf-classification"
STEPS = [
    (
        "script",
        """import os, warnings
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

warnings.filterwarnings("ignore")  # most species have only two leaves
data = os.environ["PODIUM_DATA"]
train, test = pd.read_csv(f"{data}/train.csv"), pd.read_csv(f"{data}/test.csv")
species = list(pd.read_csv(f"{data}/sample_submission.csv", nrows=1).columns[1:])
columns = [c for c in test.columns if c != "id"]
new = lambda: make_pipeline(StandardScaler(), LogisticRegression(C=0.05, max_iter=60))


def predict(model, frame):
    p = pd.DataFrame(model.predict_proba(frame[columns]), columns=model.classes_)
    p = p.reindex(columns=species, fill_value=0.0) + 1e-3
    return p.div(p.sum(axis=1), axis=0)


held = train.groupby("species").cumcount() == 1
p = predict(new().fit(train[~held][columns], train[~held]["species"]), train[held])
loss = -np.mean([np.log(p.iloc[i][s]) for i, s in enumerate(train[held]["species"])])
out = predict(new().fit(train[columns], train["species"]), test)
out.insert(0, "id", test["id"])
out.to_csv("submission.csv", index=False)
print(f"podium-metric: {loss:.4f}")
""",
    ),
]
