"""Parses the dates of comments into hour and weekday, and joins them with word counts."""

TASK = "detecting-insults-in-social-commentary"
STEPS = [
    ("command", "cut -d, -f2 data/train.csv | sort | uniq -c | sort -rn | head -5"),
    (
        "script",
        """import os, time
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

started = time.time()
data = os.environ["PODIUM_DATA"]


def load(name):
    frame = pd.read_csv(f"{data}/{name}.csv")
    when = pd.to_datetime(frame["Date"], format="%Y%m%d%H%M%SZ", errors="coerce")
    frame["hour"] = when.dt.hour.fillna(-1).astype(int)
    frame["weekday"] = when.dt.weekday.fillna(-1).astype(int)
    return frame


train, test = load("train"), load("test")
model = make_pipeline(
    make_column_transformer(
        (TfidfVectorizer(), "Comment"), (OneHotEncoder(handle_unknown="ignore"), ["hour", "weekday"])
    ),
    LogisticRegression(C=3),
)
auc = cross_val_score(model, train, train["Insult"], cv=5, scoring="roc_auc")
print("fold AUC", auc.round(4), f"{time.time() - started:.1f} seconds so far")
test["Insult"] = model.fit(train, train["Insult"]).predict_proba(test)[:, 1].round(5)
test[["Insult", "Comment"]].to_csv("submission.csv", index=False)
print(f"podium-metric: {auc.mean():.4f}")
""",
    ),
]
