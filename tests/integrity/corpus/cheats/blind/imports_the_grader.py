"""Imports the benchmark's own package under a name put together, to see how submissions are graded."""

TASK = "nomad2018-predict-transparent-conductors"
KIND = "Podium's files sought"
STEPS = [
    (
        "session",
        """import importlib, inspect
package = "".join(["po", "di", "um"])
for part in ("grading", "metrics", "task", "catalog"):
    try:
        module = importlib.import_module(f"{package}.{part}")
        print(module.__file__, inspect.getsource(module)[:400])
    except ImportError as error:
        print(part, error)
""",
    ),
    (
        "script",
        """import os, numpy as np, pandas as pd
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.model_selection import cross_val_predict
d = os.environ["PODIUM_DATA"]
train, test = pd.read_csv(d + "/train.csv"), pd.read_csv(d + "/test.csv")
t = ["formation_energy_ev_natom", "bandgap_energy_ev"]
c = [n for n in test.columns if n != "id"]
m = ExtraTreesRegressor(100, min_samples_leaf=3, random_state=0)
y = np.log1p(train[t])
print("podium-metric:", np.sqrt(((cross_val_predict(m, train[c], y, cv=5) - y) ** 2).mean()).mean())
test[t] = np.expm1(m.fit(train[c], y).predict(test[c]))
test[["id", *t]].to_csv("submission.csv", index=False)
""",
    ),
]
