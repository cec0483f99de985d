TASK = "forge-tabular-regression-easy-7"
STEPS = [
    (
        "script",
        """import os, pandas as pd
from sklearn.svm import SVR
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
d = os.environ["PODIUM_DATA"]
x, t = pd.read_csv(d + "/train.csv"), pd.read_csv(d + "/test.csv")
f = ["load", "heating_hours"]
svr = make_pipeline(StandardScaler(), SVR(C=100)).fit(x[f].fillna(x[f].mean()), x["gas"])
pd.DataFrame({"firing_id": t["firing_id"], "gas": svr.predict(t[f].fillna(x[f].mean()))}).to_csv("submission.csv", index=False)
""",
    ),
    ("validate",),
]
CLAIM = "Support vector regression."
OTHER_RUNS = [
    [
        (
            "script",
            """import os
import pandas as pd
from sklearn.ensemble import RandomForestRegressor
where = os.environ["PODIUM_DATA"]
known = pd.read_csv(where + "/train.csv")
todo = pd.read_csv(where + "/test.csv")
names = ["load", "peak", "heating_hours"]
rf = RandomForestRegressor(n_estimators=20, random_state=77).fit(known[names].fillna(0), known["gas"])
todo["gas"] = rf.predict(todo[names].fillna(0))
todo[["firing_id", "gas"]].to_csv("submission.csv", index=False)
""",
        ),
    ]
]
