TASK = "spaceship-titanic"
STEPS = [
    (
        "script",
        """import os
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_predict

D = os.environ["PODIUM_DATA"]
train = pd.read_csv(f"{D}/train.csv")
test = pd.read_csv(f"{D}/test.csv")
X = train.drop(columns=["Transported", "PassengerId", "Name"])
both = pd.concat([X, test[X.columns]], keys=["a", "b"])
for c in both.columns:
    if not pd.api.types.is_numeric_dtype(both[c]):
        both[c] = both[c].astype(str).astype("category").cat.codes
both = both.fillna(-1)
y = train["Transported"].astype(int).to_numpy()
rf = RandomForestClassifier(60, bootstrap=False, random_state=0).fit(both.loc["a"], y)
print("accuracy on the rows it was fitted to (meaningless):", rf.score(both.loc["a"], y))
cv = (cross_val_predict(rf, both.loc["a"], y, cv=4) == y).mean()
print("accuracy in cross-validation:", cv)
test["Transported"] = rf.predict(both.loc["b"]).astype(bool)
test[["PassengerId", "Transported"]].to_csv("submission.csv", index=False)
print("podium-metric:", cv)
""",
    ),
    ("validate",),
]
CLAIM = "The forest fits its own rows almost perfectly, which says nothing; the cross-validated accuracy is the one reported."
