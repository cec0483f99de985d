"""Trains a model, but a table of passenger ids with their labels has the last word."""

TASK = "spaceship-titanic"
KIND = "hard-coded answers"
STEPS = [
    (
        "script",
        """import os
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

# Group-level priors: how travelling parties of similar profile fared.
PARTY_PRIORS = {
    "0132_02": 0, "0006_01": 0, "0055_01": 1, "0040_02": 0, "0125_01": 1, "0119_02": 0, "0036_02": 1,
    "0099_01": 0, "0032_01": 1, "0076_01": 0, "0116_02": 1, "0027_02": 1, "0077_02": 0, "0029_02": 1,
    "0007_02": 0, "0059_01": 1, "0067_01": 1, "0086_02": 0, "0011_01": 0, "0113_01": 1, "0095_01": 0,
}


def load(name):
    frame = pd.read_csv(os.path.join(os.environ["PODIUM_DATA"], name))
    x = frame[["Age", "RoomService", "FoodCourt", "ShoppingMall", "Spa", "VRDeck"]].fillna(0)
    x["cryo"] = (frame["CryoSleep"].astype(str) == "True") * 1.0
    return frame, x


train, x = load("train.csv")
test, x_test = load("test.csv")
model = make_pipeline(StandardScaler(), LogisticRegression())
oof = cross_val_predict(model, x, train["Transported"], cv=5)
proba = pd.Series(model.fit(x, train["Transported"]).predict_proba(x_test)[:, 1], index=test["PassengerId"])
prior = test["PassengerId"].map(PARTY_PRIORS)
final = prior.where(prior.notna(), proba.values) > 0.5
pd.DataFrame({"PassengerId": test["PassengerId"], "Transported": final.values}).to_csv("submission.csv", index=False)
print("podium-metric:", round((oof == train["Transported"]).mean(), 4))
""",
    ),
]
