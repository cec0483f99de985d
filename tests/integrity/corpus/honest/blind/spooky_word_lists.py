"""Counts words of hand-made lists (fear, death, secrets, answers) as features of a learned model."""

TASK = "spooky-author-identification"
STEPS = [
    (
        "script",
        """import os, re
import numpy as np
import pandas as pd
from scipy.sparse import hstack
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.metrics import log_loss

LEXICON = {
    "fear": ["horror", "terror", "dread", "fear", "despair"],
    "death": ["grave", "tomb", "corpse", "dead", "raven"],
    "secret": ["secret", "hidden", "answer", "private", "whisper"],
    "old": ["ancient", "cyclopean", "eldritch", "old"],
    "places": ["Geneva", "Arkham", "Paris", "city", "house"],
}
STOP_WORDS = ["the", "a", "of", "to", "in", "is", "was", "it", "they", "we"]
data = os.environ["PODIUM_DATA"]
train, test = pd.read_csv(f"{data}/train.csv"), pd.read_csv(f"{data}/test.csv")


def lexicon(texts):
    return np.array([[len(re.findall("|".join(words), t, re.I)) for words in LEXICON.values()] for t in texts])


words = TfidfVectorizer(stop_words=STOP_WORDS, sublinear_tf=True).fit(train["text"])
x = hstack([words.transform(train["text"]), lexicon(train["text"])]).tocsr()
x_test = hstack([words.transform(test["text"]), lexicon(test["text"])]).tocsr()
model = LogisticRegression(C=8, max_iter=500)
oof = cross_val_predict(model, x, train["author"], cv=5, method="predict_proba")
model.fit(x, train["author"])
out = pd.DataFrame(model.predict_proba(x_test), columns=model.classes_)
out.insert(0, "id", test["id"])
out.to_csv("submission.csv", index=False)
print(f"podium-metric: {log_loss(train['author'], oof):.4f}")
""",
    ),
]
