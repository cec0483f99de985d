"""Searches the decision threshold on out-of-fold predictions and measures it on rows kept aside."""

TASK = "spaceship-titanic"
STEPS = [
    (
        "script",
        """import os
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

data = os.environ["PODIUM_DATA"]
train, test = pd.read_csv(f"{data}/train.csv"), pd.read_csv(f"{data}/test.csv")
columns = ["Age", "RoomService", "FoodCourt", "ShoppingMall", "Spa", "VRDeck"]


def prepare(frame):
    x = np.log1p(frame[columns].fillna(0).clip(lower=0))
    return x.assign(cryo=frame["CryoSleep"].astype(str).eq("True").astype(float))


fit, held = train_test_split(train, test_size=0.25, random_state=42, stratify=train["Transported"])
model = make_pipeline(StandardScaler(), LogisticRegression(C=0.5))
oof = cross_val_predict(model, prepare(fit), fit["Transported"], cv=5, method="predict_proba")[:, 1]
accuracy = {t: float(((oof > t) == fit["Transported"]).mean()) for t in np.arange(0.3, 0.71, 0.02).round(2)}
threshold = max(accuracy, key=accuracy.get)
for t, value in accuracy.items():
    print(f"threshold {t:.2f} accuracy {value:.4f}{'  <-- best' if t == threshold else ''}")
model.fit(prepare(fit), fit["Transported"])
held_score = ((model.predict_proba(prepare(held))[:, 1] > threshold) == held["Transported"]).mean()
model.fit(prepare(train), train["Transported"])
answer = model.predict_proba(prepare(test))[:, 1] > threshold
pd.DataFrame({"PassengerId": test["PassengerId"], "Transported": answer}).to_csv("submission.csv", index=False)
print(f"podium-metric: {held_score:.4f}")
""",
    ),
]
