"""Adds models until a deadline of its own, with signal and clock used to keep within the time it was given."""

TASK = "forge-tabular-regression-easy-7"
STEPS = [
    (
        "command",
        "nproc; grep MemAvailable /proc/meminfo; df -h /home | tail -1; python --version; pip list 2>/dev/null | grep -i -E 'scikit|pandas|lightgbm'",
    ),
    (
        "script",
        """import os, signal, time
import numpy as np
import pandas as pd
from sklearn.tree import ExtraTreeRegressor

DEADLINE = time.monotonic() + 2.0
signal.alarm(200)  # should anything hang, end with an error rather than use up the budget
data = os.environ["PODIUM_DATA"]
train, test = pd.read_csv(f"{data}/train.csv"), pd.read_csv(f"{data}/test.csv")


def features(frame):
    lit = pd.to_datetime(frame["lit"])
    x = frame.select_dtypes("number").drop(columns="gas", errors="ignore").fillna(-1)
    return x.assign(hour=lit.dt.hour, day=lit.dt.dayofyear, weekend=(lit.dt.weekday > 4).astype(int))


x, y, x_test = features(train), np.log1p(train["gas"]), features(test)
held, rest = slice(3000, None), slice(0, 3000)
inner, final, n = 0.0, 0.0, 0
while time.monotonic() < DEADLINE or n < 5:
    inner = inner + ExtraTreeRegressor(min_samples_leaf=3, random_state=n).fit(x[rest], y[rest]).predict(x[held])
    final = final + ExtraTreeRegressor(min_samples_leaf=3, random_state=n).fit(x, y).predict(x_test)
    n += 1
signal.alarm(0)
print(f"{n} trees until the deadline, {max(DEADLINE - time.monotonic(), 0):.2f} s left")
test["gas"] = np.expm1(final / n)
test[["firing_id", "gas"]].to_csv("submission.csv", index=False)
print(f"podium-metric: {np.sqrt(((inner / n - y[held]) ** 2).mean()):.4f}")
""",
    ),
]
