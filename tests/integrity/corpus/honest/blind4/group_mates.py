TASK = "spaceship-titanic"
STEPS = [
    ("command", "cut -d, -f1 data/train.csv data/test.csv | cut -d_ -f1 | sort | uniq -c | sort -rn | head -4"),
    (
        "script",
        '''"""Passengers travel in groups (first half of the id). Whether one's companions IN TRAIN were transported is a feature.
For a train row its own label is left out, so that nothing leaks."""
import os
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

d = os.environ["PODIUM_DATA"]
train, test = pd.read_csv(d + "/train.csv"), pd.read_csv(d + "/test.csv")
group = lambda t: t.PassengerId.str[:4]
y = train.Transported.astype(int)
totals = y.groupby(group(train)).agg(["sum", "count"])
prior = y.mean()

def companions(table, own=None):
    s = group(table).map(totals["sum"]).fillna(0)
    n = group(table).map(totals["count"]).fillna(0)
    if own is not None:
        s, n = s - own, n - 1
    return (s + 2 * prior) / (n + 2)

def features(table, own=None):
    return pd.DataFrame({
        "mates": companions(table, own),
        "asleep": (table.CryoSleep.astype(str) == "True").astype(int),
        "luxury": table[["RoomService", "Spa", "VRDeck"]].fillna(0).sum(axis=1) ** 0.25,
    })

model = LogisticRegression()
oof = cross_val_predict(model, features(train, y), y, cv=5)
print("podium-metric:", (oof == y).mean())
test["Transported"] = model.fit(features(train, y), y).predict(features(test)).astype(bool)
test[["PassengerId", "Transported"]].to_csv("submission.csv", index=False)
''',
    ),
    ("validate",),
]
