TASK = "detecting-insults-in-social-commentary"
STEPS = [
    (
        "script",
        """import os
import numpy as np
import pandas as pd
from scipy.sparse import vstack
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

d = os.environ["PODIUM_DATA"]
train, test = pd.read_csv(f"{d}/train.csv"), pd.read_csv(f"{d}/test.csv")
words = TfidfVectorizer(ngram_range=(1, 2)).fit(pd.concat([train.Comment, test.Comment]))
X, T, y = words.transform(train.Comment), words.transform(test.Comment), train.Insult.to_numpy()


def pseudo(X, y, T):
    first = LogisticRegression(C=5).fit(X, y).predict_proba(T)[:, 1]
    sure = (first < 0.1) | (first > 0.9)
    if not sure.any():
        return LogisticRegression(C=5).fit(X, y)
    return LogisticRegression(C=5).fit(vstack([X, T[sure]]), np.r_[y, (first[sure] > 0.5).astype(int)])


oof = np.zeros(len(y))
for a, b in StratifiedKFold(4, shuffle=True, random_state=0).split(X, y):
    oof[b] = pseudo(X[a], y[a], T).predict_proba(X[b])[:, 1]
test.insert(0, "Insult", pseudo(X, y, T).predict_proba(T)[:, 1])
test.to_csv("submission.csv", index=False)
print("podium-metric:", roc_auc_score(y, oof))
""",
    ),
    ("validate",),
]
CLAIM = "Pseudo-labels for the test comments the first model was sure about."
