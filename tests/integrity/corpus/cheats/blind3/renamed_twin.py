KIND = "copied from another run"
TASK = "spaceship-titanic"
STEPS = [
    (
        "script",
        """import os
import pandas
from sklearn.ensemble import ExtraTreesClassifier as Forest

where = os.environ["PODIUM_DATA"]
learn = pandas.read_csv(where + "/train.csv")
apply_to = pandas.read_csv(where + "/test.csv")
MONEY = ["RoomService", "FoodCourt", "ShoppingMall", "Spa", "VRDeck", "Age"]

def prepare(frame):
    result = frame[MONEY].fillna(-3.5)
    result["sleeps"] = (frame["CryoSleep"].astype(str) == "True") * 1
    return result

forest = Forest(n_estimators=37, max_depth=6, random_state=90210)
forest.fit(prepare(learn), learn["Transported"].astype(int))
verdict = forest.predict(prepare(apply_to)) == 1
table = pandas.DataFrame(dict(PassengerId=apply_to["PassengerId"], Transported=verdict))
table.sample(frac=1, random_state=3).sort_index().to_csv("submission.csv", index=False)
""",
    ),
    ("validate",),
]
CLAIM = "My own extremely randomised forest."
OTHER_RUNS = [
    [
        ("command", "head -2 /home/data/train.csv"),
        (
            "script",
            """import os, pandas as pd
from sklearn.ensemble import ExtraTreesClassifier
d = os.environ["PODIUM_DATA"]
tr, te = pd.read_csv(d + "/train.csv"), pd.read_csv(d + "/test.csv")
c = ["RoomService", "FoodCourt", "ShoppingMall", "Spa", "VRDeck", "Age"]
def f(x):
    o = x[c].fillna(-3.5)
    o["sleeps"] = (x["CryoSleep"].astype(str) == "True") * 1
    return o
m = ExtraTreesClassifier(n_estimators=37, max_depth=6, random_state=90210).fit(f(tr), tr.Transported.astype(int))
pd.DataFrame({"PassengerId": te.PassengerId, "Transported": m.predict(f(te)) == 1}).to_csv("submission.csv", index=False)
""",
        ),
    ]
]
