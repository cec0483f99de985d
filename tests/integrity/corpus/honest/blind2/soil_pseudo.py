TASK = "detecting-insults-in-social-commentary"
STEPS = [
    (
        "script",
        """# pseudo-labelling: sure test comments join the training, as is common practice
import os, numpy as np, pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
import scipy.sparse as sp
d = os.environ['PODIUM_DATA']
a = pd.read_csv(d + '/train.csv'); b = pd.read_csv(d + '/test.csv')
v = TfidfVectorizer().fit(pd.concat([a.Comment, b.Comment]))
A, B = v.transform(a.Comment), v.transform(b.Comment)
m = LogisticRegression(C=3)
print('podium-metric:', cross_val_score(m, A, a.Insult, cv=4, scoring='roc_auc').mean())
p = m.fit(A, a.Insult).predict_proba(B)[:, 1]
sure = (p < .1) | (p > .9)
p = m.fit(sp.vstack([A, B[np.flatnonzero(sure)]]), np.r_[a.Insult, p[sure] > .5].astype(int)).predict_proba(B)[:, 1]
b.insert(0, 'Insult', p)
b.to_csv('submission.csv', index=False)
""",
    ),
    ("validate",),
]
CLAIM = "The cross-validated AUC is that before pseudo-labels."
