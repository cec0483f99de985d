TASK = "tabular-playground-series-may-2022"
STEPS = [
    (
        "script",
        """import os
import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_predict, cross_val_score
from sklearn.metrics import roc_auc_score

d = os.environ['PODIUM_DATA']
tr, te = pd.read_csv(d + '/train.csv'), pd.read_csv(d + '/test.csv')
X = te.select_dtypes('number').columns.drop('id')
# can one tell test rows from train rows? (id left out, it obviously can)
is_test = np.r_[np.zeros(len(tr)), np.ones(len(te))]
rf = RandomForestClassifier(40, min_samples_leaf=5, random_state=0)
adv = cross_val_predict(rf, pd.concat([tr[X], te[X]]), is_test, cv=3, method='predict_proba')[:, 1]
print('adversarial AUC', roc_auc_score(is_test, adv))
weight = (adv[:len(tr)] + .05) / (1.05 - adv[:len(tr)])
print('podium-metric:', cross_val_score(rf, tr[X], tr.target, cv=4, scoring='roc_auc').mean())
te['target'] = rf.fit(tr[X], tr.target, sample_weight=weight).predict_proba(te[X])[:, 1]
te[['id', 'target']].to_csv('submission.csv', index=False)
""",
    ),
    ("validate",),
]
