"""Adds test rows that the first model is sure of to the training rows of each fold, and measures both ways."""

TASK = "spaceship-titanic"
STEPS = [
    (
        "script",
        """import os
import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold

data = os.environ["PODIUM_DATA"]
train, test = pd.read_csv(f"{data}/train.csv"), pd.read_csv(f"{data}/test.csv")
columns = ["Age", "RoomService", "FoodCourt", "ShoppingMall", "Spa", "VRDeck"]
x, y, x_test = train[columns].fillna(0), train["Transported"].astype(int), test[columns].fillna(0)
new = lambda: RandomForestClassifier(60, min_samples_leaf=3, random_state=7)


def with_pseudo_labels(x_fit, y_fit):
    p = new().fit(x_fit, y_fit).predict_proba(x_test)[:, 1]
    sure = (p > 0.85) | (p < 0.15)
    labels = pd.Series((p[sure] > 0.5).astype(int))
    return new().fit(pd.concat([x_fit, x_test[sure]]), pd.concat([y_fit, labels])), int(sure.sum())


plain, pseudo = [], []
for a, b in StratifiedKFold(4, shuffle=True, random_state=42).split(x, y):
    plain.append(new().fit(x.iloc[a], y.iloc[a]).score(x.iloc[b], y.iloc[b]))
    model, added = with_pseudo_labels(x.iloc[a], y.iloc[a])
    pseudo.append(model.score(x.iloc[b], y.iloc[b]))
    print(f"plain {plain[-1]:.4f}, with {added} pseudo-labels {pseudo[-1]:.4f}")
final, _ = with_pseudo_labels(x, y)
test["Transported"] = final.predict(x_test).astype(bool)
test[["PassengerId", "Transported"]].to_csv("submission.csv", index=False)
print(f"podium-metric: {np.mean(pseudo):.4f}")
""",
    ),
    ("note", "Pseudo-labels change the accuracy of the folds little; both figures are in the output of the script."),
]
