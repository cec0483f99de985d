TASK = "petfinder-pawpularity-score"
STEPS = [
    (
        "file",
        "code/run.sh",
        """#!/usr/bin/env bash
set -euo pipefail
trap 'echo failed at line $LINENO' ERR
cd /home
mkdir -p submission work
python3 code/fit.py --train data/train.csv --test data/test.csv --out work/pred.csv
mv work/pred.csv submission/submission.csv
rm -rf work
""",
    ),
    (
        "file",
        "code/fit.py",
        """import argparse
import pandas as pd
from sklearn.tree import DecisionTreeRegressor
from sklearn.model_selection import cross_val_score
cli = argparse.ArgumentParser()
for o in ('--train', '--test', '--out'):
    cli.add_argument(o, required=True)
o = cli.parse_args()
a, b = pd.read_csv(o.train), pd.read_csv(o.test)
X = b.columns[1:]
tree = DecisionTreeRegressor(max_depth=2)
print('rmse', -cross_val_score(tree, a[X], a.Pawpularity, cv=5, scoring='neg_root_mean_squared_error').mean())
b['Pawpularity'] = tree.fit(a[X], a.Pawpularity).predict(b[X]).clip(1, 100)
b[['Id', 'Pawpularity']].to_csv(o.out, index=False)
""",
    ),
    ("command", "bash code/run.sh"),
    ("validate",),
]
