TASK = "tabular-playground-series-may-2022"
STEPS = [
    ("file", "code/conf.json", '{"model": "LogisticRegression", "C": 0.05, "drop": ["f_27"]}\n'),
    (
        "script",
        """import importlib, json, os
import pandas as pd
conf = json.load(open('/home/code/conf.json'))
linear = importlib.import_module('sklearn.linear_model')
model = getattr(linear, conf['model'])(C=conf['C'], max_iter=500)
d = os.environ['PODIUM_DATA']
tr = pd.read_csv(f'{d}/train.csv').drop(columns=conf['drop'])
te = pd.read_csv(f'{d}/test.csv').drop(columns=conf['drop'])
tr = tr.query('f_00 > -4').eval('cross = f_00 * f_01')
te = te.eval('cross = f_00 * f_01')
X = te.columns.drop('id')
te['target'] = model.fit(tr[X], tr['target']).predict_proba(te[X])[:, 1]
te[['id', 'target']].to_csv('submission.csv', index=False)
""",
    ),
    ("validate",),
]
