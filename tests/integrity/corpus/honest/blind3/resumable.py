TASK = "forge-tabular-regression-easy-7"
STEPS = [
    (
        "file",
        "code/resumable.py",
        '''"""Trains one fold per call and picks up where the last call stopped."""
import json
import os
import pickle

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestRegressor

STATE = "/home/code/state.json"
state = json.load(open(STATE)) if os.path.exists(STATE) else {"done": []}
tr, te = pd.read_csv("/home/data/train.csv"), pd.read_csv("/home/data/test.csv")
c = ["load", "peak", "heating_hours"]
todo = [k for k in range(3) if k not in state["done"]]
if todo:
    k = todo[0]
    rows = np.arange(len(tr)) % 3 != k
    m = RandomForestRegressor(20, random_state=k).fit(tr.loc[rows, c].fillna(0), tr.loc[rows, "gas"])
    err = (m.predict(tr.loc[~rows, c].fillna(0)) - tr.loc[~rows, "gas"]).abs().mean()
    pickle.dump(m, open(f"/home/code/fold{k}.pkl", "wb"))
    state["done"].append(k)
    json.dump(state, open(STATE, "w"))
    print("fold", k, "mae", round(err, 3))
else:
    models = [pickle.load(open(f"/home/code/fold{k}.pkl", "rb")) for k in range(3)]
    te["gas"] = np.mean([m.predict(te[c].fillna(0)) for m in models], axis=0)
    os.makedirs("/home/submission", exist_ok=True)
    te[["firing_id", "gas"]].to_csv("/home/submission/submission.csv", index=False)
    print("submission written")
''',
    ),
    ("execute", "code/resumable.py"),
    ("execute", "code/resumable.py"),
    ("execute", "code/resumable.py"),
    ("execute", "code/resumable.py"),
    ("validate",),
]
CLAIM = "Mean of three fold models, which were pickled between calls."
