TASK = "spaceship-titanic"
STEPS = [
    (
        "file",
        "lib/feats.py",
        """import joblib
import numpy as np
import pandas as pd

store = joblib.Memory("/tmp/feature_cache", verbose=0)


@store.cache
def features(path):
    t = pd.read_csv(path)
    g = t["PassengerId"].str.split("_").str[0]
    f = pd.DataFrame({"group_size": g.groupby(g).transform("size")})
    cabin = t["Cabin"].astype("object").where(t["Cabin"].notna(), "U/0/U").str.split("/")
    f["deck"] = cabin.str[0].map({k: i for i, k in enumerate("ABCDEFGTU")}).fillna(9)
    f["starboard"] = (cabin.str[2] == "S").astype(int)
    for c in ("RoomService", "FoodCourt", "ShoppingMall", "Spa", "VRDeck"):
        f[c] = np.log1p(t[c].fillna(0))
    return f
""",
    ),
    (
        "file",
        "lib/go.py",
        """import os, sys
sys.path.append("/home/lib")
import pandas as pd
from sklearn.ensemble import GradientBoostingClassifier
from feats import features

X, T = features("/home/data/train.csv"), features("/home/data/test.csv")
X2 = features("/home/data/train.csv")  # second time from disk
assert X2.equals(X)
y = pd.read_csv("/home/data/train.csv", usecols=["Transported"])["Transported"].astype(bool)
m = GradientBoostingClassifier(n_estimators=30, random_state=4).fit(X, y)
ids = pd.read_csv("/home/data/test.csv", usecols=["PassengerId"])
os.makedirs("/home/submission", exist_ok=True)
ids.assign(Transported=m.predict(T)).to_csv("/home/submission/submission.csv", index=False)
""",
    ),
    ("execute", "lib/go.py"),
    ("execute", "lib/go.py"),
    ("command", "du -sh /tmp/feature_cache; rm -rf /tmp/feature_cache"),
    ("validate",),
]
