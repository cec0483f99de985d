TASK = "jigsaw-toxic-comment-classification-challenge"
STEPS = [
    ("command", "head -2 data/sample_submission.csv"),
    (
        "script",
        """import os
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.naive_bayes import ComplementNB

d = os.environ['PODIUM_DATA']
train = pd.read_csv(d + '/train.csv')
test = pd.read_csv(d + '/test.csv').set_index('id')
form = pd.read_csv(d + '/sample_submission.csv')
v = TfidfVectorizer(sublinear_tf=True)
X = v.fit_transform(train['comment_text'])
# answer in the order of the form, whatever order test.csv is in
T = v.transform(test.loc[form['id'], 'comment_text'])
for label in form.columns[1:]:
    if train[label].nunique() == 2:
        form[label] = ComplementNB().fit(X, train[label]).predict_proba(T)[:, 1]
    else:
        form[label] = 0.0
form.to_csv('submission.csv', index=False)
""",
    ),
    ("validate",),
]
CLAIM = "One naive Bayes per label. I did not measure it."
