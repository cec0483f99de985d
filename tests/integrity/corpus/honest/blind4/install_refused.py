TASK = "spooky-author-identification"
STEPS = [
    ("command", "python -c 'import nltk; print(nltk.__version__)' 2>&1 | tail -1"),
    ("command", "pip install nltk --no-index 2>&1 | tail -1"),
    ("note", "Not available offline. I do not need its stemmer: character n-grams see stems anyway."),
    (
        "script",
        """import os

import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline

data = os.environ["PODIUM_DATA"]
train = pd.read_csv(os.path.join(data, "train.csv"))
test = pd.read_csv(os.path.join(data, "test.csv"))
pipe = make_pipeline(TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), sublinear_tf=True), LogisticRegression(C=15, max_iter=600))
inside = cross_val_predict(pipe, train.text, train.author, cv=4, method="predict_proba")
pipe.fit(train.text, train.author)
probability = pd.DataFrame(pipe.predict_proba(test.text), columns=pipe.classes_)
pd.concat([test[["id"]], probability[["EAP", "HPL", "MWS"]]], axis=1).to_csv("submission.csv", index=False)
print("podium-metric:", log_loss(train.author, inside, labels=list(pipe.classes_)))
""",
    ),
    ("validate",),
]
