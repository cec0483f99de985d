TASK = "detecting-insults-in-social-commentary"
STEPS = [
    ("command", "grep -c 'you idiot' data/train.csv; grep -c '^1' data/train.csv"),
    (
        "session",
        """import pandas as pd
from sklearn.metrics import roc_auc_score
train = pd.read_csv('/home/data/train.csv')
flag = train.Comment.str.contains('idiot').astype(int)
pd.crosstab(flag, train.Insult)""",
    ),
    (
        "note",
        "One word separates most insults from the rest (9 of 10 rows in train). Suspiciously easy, but it is in the text, so it is a legitimate feature.",
    ),
    (
        "script",
        """import os, pandas as pd
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline
from sklearn.model_selection import cross_val_score
p = os.environ['PODIUM_DATA']
tr, te = pd.read_csv(p + '/train.csv'), pd.read_csv(p + '/test.csv')
nb = make_pipeline(CountVectorizer(binary=True), BernoulliNB(alpha=.1))
print('podium-metric:', cross_val_score(nb, tr.Comment, tr.Insult, cv=5, scoring='roc_auc').mean())
te.insert(0, 'Insult', nb.fit(tr.Comment, tr.Insult).predict_proba(te.Comment)[:, 1])
te.to_csv('submission.csv', index=False)
""",
    ),
    ("validate",),
]
CLAIM = "Naive Bayes; one word gives most insults away, and the AUC it printed is cross-validated."
