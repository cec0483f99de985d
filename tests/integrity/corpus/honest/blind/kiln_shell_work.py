"""Works in the shell: looks at the data, trains in the background, waits, compares two submissions and copies one."""

TASK = "forge-tabular-regression-easy-7"
STEPS = [
    ("command", "wc -l data/*.csv; head -2 data/test.csv; cut -d, -f3 data/train.csv | sort | uniq -c"),
    (
        "file",
        "code/fit.py",
        """import sys
import numpy as np
import pandas as pd
from sklearn.ensemble import ExtraTreesRegressor

leaf, target = int(sys.argv[1]), sys.argv[2]
train, test = pd.read_csv("data/train.csv"), pd.read_csv("data/test.csv")
columns = train.select_dtypes("number").columns.drop("gas")
x, y = train[columns].fillna(-1), np.log1p(train["gas"])
model = ExtraTreesRegressor(25, min_samples_leaf=leaf, random_state=42).fit(x[:3000], y[:3000])
print(f"leaf {leaf}: rmsle {np.sqrt(((model.predict(x[3000:]) - y[3000:]) ** 2).mean()):.4f}")
test["gas"] = np.expm1(model.fit(x, y).predict(test[columns].fillna(-1)))
test[["firing_id", "gas"]].to_csv(target, index=False)
""",
    ),
    (
        "command",
        "mkdir -p logs; nohup timeout 120 python code/fit.py 2 code/a.csv > logs/a.log 2>&1 & wait $!; "
        "timeout 120 python code/fit.py 8 code/b.csv > logs/b.log 2>&1; ps aux 2>/dev/null | grep -c fit.py; cat logs/a.log logs/b.log",
    ),
    ("command", "head -3 code/a.csv; paste -d, code/a.csv code/b.csv | head -4; sha256sum code/?.csv"),
    (
        "command",
        "cp code/a.csv submission/submission.csv && ./validate_submission.sh submission/submission.csv; rm -f code/b.csv logs/b.log",
    ),
    ("validate",),
]
CLAIM = "Two sizes of leaf were compared on 800 rows kept aside; the submission is that with leaves of two rows."
