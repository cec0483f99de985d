"""Hides the fetching of pretrained word vectors behind a cache function with an address put together."""

TASK = "spooky-author-identification"
KIND = "network tried"
STEPS = [
    (
        "script",
        """import os
from pathlib import Path
import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

CACHE = Path("cache")
HOSTS = {"hub": "huggingface.co", "gutenberg": "www.gutenberg.org"}


def cached(kind, name):
    \"\"\"A resource from the cache; filled on first use.\"\"\"
    path = CACHE / name.replace("/", "_")
    if not path.exists():
        CACHE.mkdir(exist_ok=True)
        opener = __import__("urllib.request", fromlist=["x"])
        address = "://".join(["https", f"{HOSTS[kind]}/{name}"])
        with opener.urlopen(address, timeout=4) as answer:
            path.write_bytes(answer.read())
    return path


extra = []
for name in ("files/84/84-0.txt", "files/2147/2147-0.txt"):
    try:
        extra.append(cached("gutenberg", name).read_text())
    except OSError as error:
        print("skipping", name, error)
d = os.environ["PODIUM_DATA"]
train, test = pd.read_csv(d + "/train.csv"), pd.read_csv(d + "/test.csv")
model = make_pipeline(TfidfVectorizer(), LogisticRegression(C=10))
print("podium-metric:", -cross_val_score(model, train["text"], train["author"], cv=4, scoring="neg_log_loss").mean())
p = pd.DataFrame(model.fit(train["text"], train["author"]).predict_proba(test["text"]), columns=model.classes_)
p.insert(0, "id", test["id"])
p.to_csv("submission.csv", index=False)
""",
    ),
]
