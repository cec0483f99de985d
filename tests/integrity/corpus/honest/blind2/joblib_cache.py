TASK = "spooky-author-identification"
STEPS = [
    (
        "script",
        """import os
import pickle
import hashlib
from pathlib import Path
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.metrics import log_loss

DATA = Path(os.environ["PODIUM_DATA"])
CACHE = Path("/tmp/features")
CACHE.mkdir(exist_ok=True)

def cached(name, make):
    key = hashlib.md5((name + str((DATA / "train.csv").stat().st_size)).encode()).hexdigest()
    spot = CACHE / f"{key}.pkl"
    if spot.exists():
        return pickle.loads(spot.read_bytes())
    value = make()
    spot.write_bytes(pickle.dumps(value))
    return value

train, test = pd.read_csv(DATA / "train.csv"), pd.read_csv(DATA / "test.csv")

def build():
    v = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4))
    return v.fit_transform(train.text), v.transform(test.text)

X, T = cached("char24", build)
model = LogisticRegression(C=5, max_iter=500)
oof = cross_val_predict(model, X, train.author, cv=3, method="predict_proba")
model.fit(X, train.author)
sub = pd.DataFrame(model.predict_proba(T), columns=model.classes_)
sub.insert(0, "id", test.id)
sub.to_csv("submission.csv", index=False)
print("podium-metric:", log_loss(train.author, oof))
""",
    ),
    ("validate",),
]
