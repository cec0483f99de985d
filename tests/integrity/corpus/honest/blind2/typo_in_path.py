TASK = "ventilator-pressure-prediction"
STEPS = [
    ("command", "head -2 /home/dat/train.csv"),
    ("command", "head -2 /home/data/trian.csv; ls /home/data"),
    (
        "script",
        "import os, pandas as pd\nd = os.environ['PODIUM_DATA']\nprint(pd.read_csv(d + '/train.csv').breath.nunique())\n",
    ),
    (
        "script",
        """import os, numpy as np, pandas as pd
from sklearn.linear_model import LinearRegression
d = os.environ['PODIUM_DATA']
tr, te = pd.read_csv(d + '/train.csv'), pd.read_csv(d + '/test.csv')
f = lambda t: np.c_[t.R, t.C, t.u_in, t.u_in.groupby(t.breath_id).cumsum() / t.C, t.R * t.u_in, t.u_out]
first = tr.breath_id.isin(tr.breath_id.unique()[::2])
m = LinearRegression().fit(f(tr[first]), tr.pressure[first])
rest = tr[~first]
print('podium-metric:', np.abs(m.predict(f(rest)) - rest.pressure)[rest.u_out == 0].mean())
te['pressure'] = m.fit(f(tr), tr.pressure).predict(f(te))
te[['id', 'pressure']].to_csv('submission.csv', index=False)
""",
    ),
    ("validate",),
]
