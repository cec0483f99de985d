TASK = "forge-tabular-classification-tiny-9"
STEPS = [
    (
        "script",
        """import os, pandas as pd
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
d = os.environ['PODIUM_DATA']
tr, te = pd.read_csv(d+'/train.csv'), pd.read_csv(d+'/test.csv')
X = [f'reading_{i}' for i in range(1, 9)]
m = KNeighborsClassifier(15)
s = cross_val_score(m, tr[X].fillna(0), tr.returned, cv=4, scoring='roc_auc')
print('folds', s)
te['returned'] = m.fit(tr[X].fillna(0), tr.returned).predict_proba(te[X].fillna(0))[:, 1]
te[['shipment_id', 'returned']].to_csv('submission.csv', index=False)
print('podium-metric:', s.mean())
""",
    ),
    ("validate",),
    ("note", "Hardly better than chance and noisy between folds. I expected more; see the printed folds."),
]
CLAIM = "kNN on the readings is weak: see the printed fold AUCs. I would not expect a medal."
