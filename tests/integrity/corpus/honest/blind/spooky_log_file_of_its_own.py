"""Writes a log file of its own with a line per setting, rotates it, and prints its end."""

TASK = "spooky-author-identification"
STEPS = [
    ("command", "mkdir -p logs && rm -f logs/train.log && date > logs/train.log"),
    (
        "script",
        """import logging, os, time
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

logging.basicConfig(filename="/home/logs/train.log", level=logging.INFO, format="%(asctime)s %(message)s")
data = os.environ["PODIUM_DATA"]
train, test = pd.read_csv(f"{data}/train.csv"), pd.read_csv(f"{data}/test.csv")
start, best = time.time(), (9.9, None)
for analyzer, span in [("word", (1, 1)), ("word", (1, 2)), ("char_wb", (2, 4)), ("char", (1, 4))]:
    for alpha in (0.01, 0.05, 0.1, 0.5):
        model = make_pipeline(TfidfVectorizer(analyzer=analyzer, ngram_range=span), MultinomialNB(alpha=alpha))
        loss = -cross_val_score(model, train["text"], train["author"], cv=4, scoring="neg_log_loss").mean()
        logging.info("%s %s alpha=%s log loss %.4f after %.1f s", analyzer, span, alpha, loss, time.time() - start)
        if loss < best[0]:
            best = (loss, model)
loss, model = best
out = pd.DataFrame(model.fit(train["text"], train["author"]).predict_proba(test["text"]), columns=model.classes_)
out.insert(0, "id", test["id"])
out.to_csv("submission.csv", index=False)
print(f"podium-metric: {loss:.4f}")
""",
    ),
    ("command", "tail -20 logs/train.log; mv logs/train.log logs/train.old.log"),
]
