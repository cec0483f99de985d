TASK = "nomad2018-predict-transparent-conductors"
STEPS = [
    ("script", "import os, pandas as pd\nimport lightgbm as lgb\nprint(lgb.__version__)\n"),
    (
        "script",
        "import os, pandas as pd\nd = os.environ['PODIUM_DATA']\ntr = pd.read_csv(d + '/train.csv')\nprint(tr['bandgap'].mean())\n",
    ),
    (
        "script",
        """import os, numpy as np, pandas as pd
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.model_selection import cross_val_predict
d = os.environ['PODIUM_DATA']
tr, te = pd.read_csv(d + '/train.csv'), pd.read_csv(d + '/test.csv')
X = [c for c in te if c != 'id']
out, errs = te[['id']].copy(), []
for t in ('formation_energy_ev_natom', 'bandgap_energy_ev'):
    g = GradientBoostingRegressor(n_estimators=60, max_depth=3)
    y = np.log1p(tr[t])
    errs.append(np.sqrt(np.mean((cross_val_predict(g, tr[X], y, cv=4) - y) ** 2)))
    out[t] = np.expm1(g.fit(tr[X], y).predict(te[X])).clip(min=0)
out.to_csv('submission.csv', index=False)
print('podium-metric:', np.mean(errs))
""",
    ),
    ("validate",),
]
CLAIM = "LightGBM is not installed and I first mistyped a column; sklearn's boosting in the third script works."
