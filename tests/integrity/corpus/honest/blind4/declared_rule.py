TASK = "spaceship-titanic"
STEPS = [
    (
        "command",
        "awk -F, 'NR>1{n[$3]++; if($NF ~ /True/) t[$3]++} END{for(k in n) print k, t[k]/n[k], n[k]}' data/train.csv",
    ),
    (
        "script",
        '''"""A baseline of one rule, not a model: sleepers and people who spent nothing were transported."""
import os
import pandas as pd

BILLS = ["RoomService", "FoodCourt", "ShoppingMall", "Spa", "VRDeck"]


def rule(table):
    asleep = table["CryoSleep"].astype(str) == "True"
    return asleep | (table[BILLS].fillna(0).sum(axis=1) == 0)


folder = os.environ["PODIUM_DATA"]
train, test = pd.read_csv(folder + "/train.csv"), pd.read_csv(folder + "/test.csv")
print("podium-metric:", (rule(train) == train["Transported"]).mean())
test.assign(Transported=rule(test))[["PassengerId", "Transported"]].to_csv("submission.csv", index=False)
''',
    ),
    ("validate",),
]
CLAIM = "This is a declared rule baseline without any learning; its accuracy on train is what the script printed."
