TASK = "petfinder-pawpularity-score"
STEPS = [
    (
        "script",
        """import os, pandas as pd
from sklearn.linear_model import Ridge
d = os.environ['PODIUM_DATA']
a, b = pd.read_csv(d+'/train.csv'), pd.read_csv(d+'/test.csv')
x = list(b.columns[1:])
b['pawpularity'] = Ridge(5).fit(a[x], a.Pawpularity).predict(b[x])
b[['Id','pawpularity']].to_csv('submission.csv', index=False)
""",
    ),
    ("validate",),
    ("command", "cd submission && sed -i '1s/pawpularity/Pawpularity/' submission.csv && head -2 submission.csv"),
    ("validate",),
]
CLAIM = "The validator rejected a column name's case; I renamed the header."
