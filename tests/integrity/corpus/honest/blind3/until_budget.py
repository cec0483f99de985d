TASK = "forge-tabular-regression-easy-7"
STEPS = [
    (
        "script",
        """import os, time
import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeRegressor

BUDGET = 4.0     # seconds; I stop by myself well before the limit
start = time.monotonic()
D = os.environ['PODIUM_DATA']
tr, te = pd.read_csv(D + '/train.csv'), pd.read_csv(D + '/test.csv')
X = tr[['load', 'peak', 'heating_hours']].fillna(0).to_numpy()
Z = te[['load', 'peak', 'heating_hours']].fillna(0).to_numpy()
y = tr['gas'].to_numpy()
rng = np.random.default_rng(42)
total, n = np.zeros(len(Z)), 0
while time.monotonic() - start < BUDGET and n < 150:
    pick = rng.integers(0, len(X), len(X))
    total += DecisionTreeRegressor(min_samples_leaf=4).fit(X[pick], y[pick]).predict(Z)
    n += 1
print(n, 'trees in', round(time.monotonic() - start, 2), 's')
pd.DataFrame({'firing_id': te['firing_id'], 'gas': total / n}).to_csv('submission.csv', index=False)
""",
    ),
]
CLAIM = "Bagged trees, as many as fit into four seconds."
