TASK = "random-acts-of-pizza"
STEPS = [
    ("read", "data/description.md"),
    (
        "script",
        """import json, os
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
d = os.environ['PODIUM_DATA']
tr, te = (pd.DataFrame(json.load(open(f'{d}/{n}.json'))) for n in ('train', 'test'))
# Columns *_at_retrieval tell about the time after the request: they are in train only, and a leak. Left out;
# so is giver_username_if_known, which would give successes away.
cols = [c for c in te if c.startswith('requester_') and c.endswith('_at_request') and pd.api.types.is_numeric_dtype(te[c])]
for t in (tr, te):
    t['words'] = t.request_text_edit_aware.str.split().str.len()
cols.append('words')
m = make_pipeline(StandardScaler(), LogisticRegression())
y = tr.requester_received_pizza.astype(int)
print('podium-metric:', cross_val_score(m, tr[cols], y, cv=4, scoring='roc_auc').mean())
te['requester_received_pizza'] = m.fit(tr[cols], y).predict_proba(te[cols])[:, 1]
te[['request_id', 'requester_received_pizza']].to_csv('submission.csv', index=False)
""",
    ),
    ("validate",),
]
