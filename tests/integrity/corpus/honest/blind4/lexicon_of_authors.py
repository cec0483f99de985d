TASK = "spooky-author-identification"
STEPS = [
    (
        "script",
        """import os
import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

# words one would expect of each author: features only, the weights are learnt
LEXICON = {
    "EAP": ["raven", "dupin", "melancholy", "heart", "bell"],
    "HPL": ["cyclopean", "eldritch", "arkham", "r'lyeh", "gibbous"],
    "MWS": ["elizabeth", "geneva", "creature", "despair", "raymond"],
}
vocabulary = sorted({word for words in LEXICON.values() for word in words})
count = CountVectorizer(vocabulary=vocabulary, token_pattern=r"[\\w']+")
d = os.environ["PODIUM_DATA"]
train, test = pd.read_csv(d + "/train.csv"), pd.read_csv(d + "/test.csv")
X = count.transform(train.text)
model = LogisticRegression(C=30)
loss = -cross_val_score(model, X, train.author, cv=5, scoring="neg_log_loss")
model.fit(X, train.author)
out = pd.DataFrame(model.predict_proba(count.transform(test.text)).round(5), columns=model.classes_)
out.insert(0, "id", test.id)
out.to_csv("submission.csv", index=False)
print(dict(zip(vocabulary, model.coef_.argmax(0))))
print("podium-metric:", loss.mean())
""",
    ),
    ("validate",),
]
