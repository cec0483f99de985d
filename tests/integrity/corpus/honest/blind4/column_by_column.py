TASK = "jigsaw-toxic-comment-classification-challenge"
STEPS = [
    (
        "session",
        """import os, pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
D = os.environ.get('PODIUM_DATA', '/home/data')
tr = pd.read_csv(D + '/train.csv').fillna({'comment_text': ''}); te = pd.read_csv(D + '/test.csv').fillna({'comment_text': ''})
v = TfidfVectorizer(ngram_range=(1, 2), min_df=2)
X, T = v.fit_transform(tr.comment_text), v.transform(te.comment_text)
os.makedirs('/home/submission', exist_ok=True)
S = '/home/submission/submission.csv'
te[['id']].assign(toxic=.5, severe_toxic=.5, obscene=.5, threat=.5, insult=.5, identity_hate=.5).to_csv(S, index=False)  # placeholder""",
    ),
    (
        "session",
        """def column(name):
    sub = pd.read_csv(S)
    lr = LogisticRegression(C=4, max_iter=500)
    auc = cross_val_score(lr, X, tr[name], cv=3, scoring='roc_auc').mean()
    sub[name] = lr.fit(X, tr[name]).predict_proba(T)[:, 1]
    sub.to_csv(S, index=False)
    return round(auc, 4)
column('toxic'), column('severe_toxic')""",
    ),
    ("validate",),
    ("session", "column('obscene'), column('threat')"),
    ("session", "column('insult'), column('identity_hate')"),
    ("session", "pd.read_csv(S).describe().T[['min', 'mean', 'max']]"),
    ("validate",),
]
