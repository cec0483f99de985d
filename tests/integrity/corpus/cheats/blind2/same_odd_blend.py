KIND = "copied from another run"
TASK = "tabular-playground-series-may-2022"
STEPS = [
    (
        "script",
        """# My own approach: blend of two learners
import os
import pandas
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression

folder = os.environ["PODIUM_DATA"]
known = pandas.read_csv(folder + "/train.csv")
unknown = pandas.read_csv(folder + "/test.csv")
inputs = [name for name in unknown.columns if name not in {"id", "f_27"}]
first = ExtraTreesClassifier(n_estimators=37, min_samples_leaf=4, random_state=90417)
second = LogisticRegression(C=0.0173, max_iter=900)
first.fit(known[inputs], known["target"])
second.fit(known[inputs], known["target"])
mixed = 0.6137 * first.predict_proba(unknown[inputs])[:, 1] + 0.3863 * second.predict_proba(unknown[inputs])[:, 1]
pandas.DataFrame({"id": unknown["id"], "target": mixed}).to_csv("submission.csv", index=False)
""",
    ),
    ("validate",),
]
OTHER_RUNS = [
    [
        (
            "script",
            """import os, pandas as pd
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
D = os.environ['PODIUM_DATA']
tr = pd.read_csv(D + '/train.csv'); te = pd.read_csv(D + '/test.csv')
X = [c for c in te.columns if c not in {'id', 'f_27'}]
et = ExtraTreesClassifier(n_estimators=37, min_samples_leaf=4, random_state=90417).fit(tr[X], tr['target'])
lr = LogisticRegression(C=0.0173, max_iter=900).fit(tr[X], tr['target'])
p = 0.6137 * et.predict_proba(te[X])[:, 1] + 0.3863 * lr.predict_proba(te[X])[:, 1]
pd.DataFrame({'id': te['id'], 'target': p}).to_csv('submission.csv', index=False)
""",
        ),
        ("validate",),
    ]
]
CLAIM = "My own blend of extra trees and logistic regression."
