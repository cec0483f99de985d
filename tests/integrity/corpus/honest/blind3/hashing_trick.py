TASK = "spaceship-titanic"
STEPS = [
    (
        "script",
        '''import hashlib
import os

import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_score


def bucket(value, n=16):
    """High-cardinality text -> one of n buckets. Python's hash() is salted, md5 is not."""
    return int(hashlib.md5(str(value).encode()).hexdigest(), 16) % n


def design(t):
    return pd.DataFrame(
        {
            "cabin": t["Cabin"].map(bucket),
            "name": t["Name"].map(bucket),
            "home": t["HomePlanet"].map(bucket),
            "spa": t["Spa"].fillna(0),
            "vr": t["VRDeck"].fillna(0),
        }
    )


data = os.environ["PODIUM_DATA"]
train, test = pd.read_csv(data + "/train.csv"), pd.read_csv(data + "/test.csv")
model = RandomForestClassifier(n_estimators=25, random_state=3)
y = train["Transported"].astype(int)
print("podium-metric:", cross_val_score(model, design(train), y, cv=3).mean())
model.fit(design(train), y)
answer = pd.DataFrame({"PassengerId": test["PassengerId"]})
answer["Transported"] = model.predict(design(test)).astype(bool)
answer.to_csv("submission.csv", index=False)
''',
    ),
    ("validate",),
]
