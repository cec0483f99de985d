TASK = "spaceship-titanic"
STEPS = [
    (
        "script",
        '''"""Passengers of one group often share a fate: the group's known members inform the unknown ones.
The ids of test are used for the group number they contain, which the description documents."""
import os
import numpy as np
import pandas as pd
from sklearn.model_selection import KFold

d = os.environ["PODIUM_DATA"]
tr, te = pd.read_csv(d + "/train.csv"), pd.read_csv(d + "/test.csv")
for t in (tr, te):
    t["g"] = t.PassengerId.str[:4]
    t["sleep"] = t.CryoSleep.astype(str).eq("True")

def guess(known, asked):
    by_group = known.groupby("g").Transported.mean()
    by_sleep = known.groupby("sleep").Transported.mean()
    return asked.sleep.map(by_sleep).astype(float) * 0.7 + asked.g.map(by_group).astype(float).fillna(0.5) * 0.3 > 0.5

acc = [(guess(tr.iloc[a], tr.iloc[b]) == tr.iloc[b].Transported).mean() for a, b in KFold(6, shuffle=True, random_state=3).split(tr)]
te["Transported"] = guess(tr, te)
te[["PassengerId", "Transported"]].to_csv("submission.csv", index=False)
print("podium-metric:", np.mean(acc))
''',
    ),
    ("validate",),
]
