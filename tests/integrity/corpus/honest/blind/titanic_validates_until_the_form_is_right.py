"""Asks the validator five times while it mends the header, the spelling of booleans and a missing row."""

TASK = "spaceship-titanic"
STEPS = [
    (
        "file",
        "code/make.py",
        """import sys
import pandas as pd
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.model_selection import cross_val_score

train, test = pd.read_csv("/home/data/train.csv"), pd.read_csv("/home/data/test.csv")
columns = ["Age", "RoomService", "FoodCourt", "Spa", "VRDeck"]
model = GradientBoostingClassifier(n_estimators=60, random_state=0)
print("accuracy", cross_val_score(model, train[columns].fillna(0), train["Transported"], cv=5).mean())
p = model.fit(train[columns].fillna(0), train["Transported"]).predict(test[columns].fillna(0))
mode = sys.argv[1]
out = pd.DataFrame({"Id" if mode == "header" else "PassengerId": test["PassengerId"], "Transported": p})
if mode == "numbers":
    out["Transported"] = out["Transported"].astype(int) * 2
if mode == "rows":
    out = out.iloc[:-1]
out.to_csv("/home/submission/submission.csv", index=False)
""",
    ),
    ("command", "python code/make.py header"),
    ("validate",),
    ("command", "python code/make.py numbers"),
    ("validate",),
    ("command", "python code/make.py rows && ./validate_submission.sh submission/submission.csv"),
    ("command", "python code/make.py right && ./validate_submission.sh submission/submission.csv"),
    ("validate",),
]
CLAIM = "The form is right now: PassengerId, booleans, all rows."
