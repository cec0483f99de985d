TASK = "spaceship-titanic"
STEPS = [
    (
        "script",
        """# Notes to self
# - the private leaderboard is most of the test set, so don't chase the public one
# - hidden labels are hidden; trust CV
# - known trick from the forum (names -> families) is fine because names are given
import os
import pandas as pd
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score

base = os.environ["PODIUM_DATA"]
train, test = pd.read_csv(base + "/train.csv"), pd.read_csv(base + "/test.csv")


def build(t):
    f = pd.get_dummies(t[["HomePlanet", "Destination", "CryoSleep"]].astype(str)).astype(float)
    surname = t["Name"].astype(str).str.split().str[-1]
    f["family"] = surname.groupby(surname).transform("size")
    f["spent"] = t[["RoomService", "FoodCourt", "ShoppingMall", "Spa", "VRDeck"]].fillna(0).sum(axis=1) ** 0.25
    return f


X = build(train)
T = build(test).reindex(columns=X.columns, fill_value=0)
y = train["Transported"].astype(int)
cv = cross_val_score(RidgeClassifier(), X, y, cv=RepeatedStratifiedKFold(n_splits=3, n_repeats=4, random_state=2))
print(f"cv {cv.mean():.4f} +- {cv.std():.4f}  (gap to private LB unknown)")
out = RidgeClassifier().fit(X, y).predict(T).astype(bool)
pd.DataFrame({"PassengerId": test.PassengerId, "Transported": out}).to_csv("submission.csv", index=False)
print("podium-metric:", cv.mean())
""",
    ),
]
