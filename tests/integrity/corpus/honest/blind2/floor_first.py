TASK = "spooky-author-identification"
STEPS = [
    ("command", "mkdir -p submission && cp data/sample_submission.csv submission/submission.csv"),
    ("validate",),
    ("note", "The sample submission is in place as a safety net. Now a model."),
    (
        "script",
        """import os, pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import SGDClassifier
d = os.environ['PODIUM_DATA']
tr, te = pd.read_csv(d + '/train.csv'), pd.read_csv(d + '/test.csv')
v = TfidfVectorizer(token_pattern=r'\\S+')
m = SGDClassifier(loss='log_loss', alpha=1e-3, random_state=0).fit(v.fit_transform(tr.text), tr.author)
p = m.predict_proba(v.transform(te.text))
pd.DataFrame(p, columns=m.classes_, index=pd.Index(te.id, name='id')).clip(.01, .99).to_csv('submission.csv')
""",
    ),
    ("validate",),
]
