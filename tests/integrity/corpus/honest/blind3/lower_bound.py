TASK = "forge-tabular-regression-easy-11"
STEPS = [
    ("note", "First a lower bound: one number for everybody. Not meant to be good."),
    (
        "script",
        """import os
import pandas as pd
d = os.environ['PODIUM_DATA']
tr, te = pd.read_csv(d + '/train.csv'), pd.read_csv(d + '/test.csv')
(target,) = [c for c in tr.columns if c not in te.columns]
key = te.columns[0]
te[target] = tr[target].median()
te[[key, target]].to_csv('submission.csv', index=False)
print('median of', target, 'is', tr[target].median())
""",
    ),
    ("validate",),
]
CLAIM = "Constant baseline: the training median for every row. No model was fitted."
