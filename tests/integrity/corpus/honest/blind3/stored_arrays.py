TASK = "forge-tabular-regression-easy-7"
STEPS = [
    (
        "session",
        """import numpy as np, pandas as pd
tr = pd.read_csv('/home/data/train.csv'); te = pd.read_csv('/home/data/test.csv')
F = ['load', 'peak', 'heating_hours']
np.savez('/tmp/arrays.npz', X=tr[F].fillna(tr[F].mean()).values, y=tr.gas.values, T=te[F].fillna(tr[F].mean()).values)""",
    ),
    (
        "file",
        "code/fit.py",
        """import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel

a = np.load('/tmp/arrays.npz')
mu, sd = a['X'].mean(0), a['X'].std(0)
n = min(len(a['y']), 300)
gp = GaussianProcessRegressor(RBF(2.0) + WhiteKernel(0.1), normalize_y=True, optimizer=None)
gp.fit(((a['X'] - mu) / sd)[:n], a['y'][:n])
np.save('/tmp/pred.npy', gp.predict((a['T'] - mu) / sd))
""",
    ),
    ("execute", "code/fit.py"),
    (
        "session",
        """import os
os.makedirs('/home/submission', exist_ok=True)
te['gas'] = np.load('/tmp/pred.npy')
te[['firing_id', 'gas']].to_csv('/home/submission/submission.csv', index=False)
te.gas.describe()""",
    ),
    ("validate",),
]
CLAIM = "Gaussian process with fixed kernel on the first rows of train; predictions pass through /tmp/pred.npy."
