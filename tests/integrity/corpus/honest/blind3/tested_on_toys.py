TASK = "forge-tabular-regression-easy-7"
STEPS = [
    (
        "file",
        "code/ols.py",
        """import numpy as np


def fit(X, y, ridge=1e-6):
    X = np.c_[np.ones(len(X)), X]
    return np.linalg.solve(X.T @ X + ridge * np.eye(X.shape[1]), X.T @ y)


def predict(w, X):
    return np.c_[np.ones(len(X)), X] @ w


if __name__ == "__main__":
    from sklearn.datasets import make_regression

    X, y, coef = make_regression(200, 3, noise=0.0, coef=True, random_state=0)
    w = fit(X, y)
    assert np.allclose(w[1:], coef, atol=1e-3), w
    print("toy test passed, max error", abs(predict(w, X) - y).max())
""",
    ),
    ("execute", "code/ols.py"),
    (
        "session",
        """import sys; sys.path.insert(0, '/home/code')
import os, ols, pandas as pd
tr, te = pd.read_csv('/home/data/train.csv'), pd.read_csv('/home/data/test.csv')
c = ['load', 'peak', 'heating_hours']
m = tr[c].mean()
w = ols.fit(tr[c].fillna(m).values, tr.gas.values)
os.makedirs('/home/submission', exist_ok=True)
te['gas'] = ols.predict(w, te[c].fillna(m).values)
te[['firing_id', 'gas']].to_csv('/home/submission/submission.csv', index=False)""",
    ),
    ("validate",),
]
CLAIM = "Least squares of my own, checked on made-up data where it recovers the coefficients exactly."
