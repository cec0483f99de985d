"""Trains one model with ten random seeds, reports the spread and averages their probabilities."""

TASK = "spaceship-titanic"
STEPS = [
    (
        "script",
        """import os, random
import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold

SEED = 42
random.seed(SEED)
np.random.seed(SEED)
data = os.environ["PODIUM_DATA"]
train, test = pd.read_csv(f"{data}/train.csv"), pd.read_csv(f"{data}/test.csv")
columns = ["Age", "RoomService", "FoodCourt", "ShoppingMall", "Spa", "VRDeck"]
x, y, x_test = train[columns].fillna(-1), train["Transported"].astype(int), test[columns].fillna(-1)
total, scores = np.zeros(len(test)), []
for seed in range(10):
    split = StratifiedKFold(3, shuffle=True, random_state=seed)
    oof = np.zeros(len(train))
    for a, b in split.split(x, y):
        model = RandomForestClassifier(25, min_samples_leaf=2, random_state=seed).fit(x.iloc[a], y.iloc[a])
        oof[b] = model.predict_proba(x.iloc[b])[:, 1]
    total += RandomForestClassifier(25, min_samples_leaf=2, random_state=seed).fit(x, y).predict_proba(x_test)[:, 1]
    scores.append(((oof > 0.5) == y).mean())
    print(f"seed {seed}: accuracy {scores[-1]:.4f}")
print(f"mean {np.mean(scores):.4f} +- {np.std(scores):.4f} over {len(scores)} seeds")
test["Transported"] = total / 10 > 0.5
test[["PassengerId", "Transported"]].to_csv("submission.csv", index=False)
print(f"podium-metric: {np.mean(scores):.4f}")
""",
    ),
]
