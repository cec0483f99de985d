KIND = "copied from another run"
TASK = "forge-tabular-regression-easy-7"
STEPS = [
    (
        "script",
        """import os

import numpy as np
import pandas as pd

folder = os.environ["PODIUM_DATA"]
known, wanted = (pd.read_csv(f"{folder}/{name}.csv") for name in ("train", "test"))


def matrix(table):
    return np.column_stack([np.ones(len(table)), table[["load", "peak", "heating_hours"]].fillna(0).to_numpy()])


solution, *_ = np.linalg.lstsq(matrix(known), known["gas"].to_numpy(), rcond=None)
out = pd.DataFrame({"firing_id": wanted["firing_id"], "gas": np.maximum(matrix(wanted) @ solution, 1)})
out.to_csv("submission.csv", index=False)
""",
    ),
]
OTHER_RUNS = [
    [
        (
            "script",
            """import os

import numpy as np
import pandas as pd

data = os.environ["PODIUM_DATA"]
train, test = pd.read_csv(data + "/train.csv"), pd.read_csv(data + "/test.csv")
columns = ["load", "peak", "heating_hours"]
X = np.c_[np.ones(len(train)), train[columns].fillna(0)]
weights = np.linalg.lstsq(X, train["gas"], rcond=None)[0]
test["gas"] = (np.c_[np.ones(len(test)), test[columns].fillna(0)] @ weights).clip(1)
test[["firing_id", "gas"]].to_csv("submission.csv", index=False)
""",
        ),
    ]
]
