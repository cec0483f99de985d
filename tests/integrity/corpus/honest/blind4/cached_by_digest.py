TASK = "ventilator-pressure-prediction"
STEPS = [
    (
        "file",
        "code/cache.py",
        '''import hashlib
import pathlib
import pickle

STORE = pathlib.Path("/home/cache")


def remember(function, *files):
    """Result of function(*files), computed once per content of the files."""
    STORE.mkdir(exist_ok=True)
    digest = hashlib.sha256(b"".join(pathlib.Path(f).read_bytes() for f in files)).hexdigest()
    slot = STORE / f"{function.__name__}-{digest[:16]}.pkl"
    if slot.exists():
        print("from cache", slot.name)
        return pickle.loads(slot.read_bytes())
    value = function(*files)
    slot.write_bytes(pickle.dumps(value))
    return value
''',
    ),
    (
        "script",
        """import os, sys
sys.path.insert(0, "/home/code")
import pandas as pd
from cache import remember
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import GroupKFold, cross_val_predict

def features(path):
    t = pd.read_csv(path)
    g = t.groupby("breath_id").u_in
    return t.assign(area=g.cumsum(), lag=g.shift(1).fillna(0), lead=g.shift(-1).fillna(0), top=g.transform("max"))

d = os.environ["PODIUM_DATA"]
tr, te = remember(features, d + "/train.csv"), remember(features, d + "/test.csv")
cols = [c for c in te if c not in ("id", "breath_id")]
et = ExtraTreesRegressor(30, min_samples_leaf=3, n_jobs=1, random_state=0)
p = cross_val_predict(et, tr[cols], tr.pressure, groups=tr.breath_id, cv=GroupKFold(3))
inspiring = tr.u_out == 0
te["pressure"] = et.fit(tr[cols], tr.pressure).predict(te[cols])
te[["id", "pressure"]].to_csv("submission.csv", index=False)
print("podium-metric:", mean_absolute_error(tr.pressure[inspiring], p[inspiring]))
""",
    ),
    ("command", "ls -la /home/cache"),
    ("validate",),
]
