"""Cleans escapes in comments and counts second-person insults with regular expressions."""

TASK = "detecting-insults-in-social-commentary"
STEPS = [
    (
        "script",
        r"""import os, re
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_predict

PATTERNS = {
    "you_are": r"\byou(?:'re| are)?\b",
    "insult": r"\b(?:idiot|moron|stupid|dumb|loser|fool)s?\b",
    "directed": r"\byou\s+(?:\w+\s+){0,2}(?:idiot|moron|fool)\b",
    "shouting": r"[A-Z]{3,}|!{2,}",
    "link": r"https?://\S+",
    "escape": r"\\x[0-9a-f]{2}|\\u[0-9a-f]{4}|\\n",
}
data = os.environ["PODIUM_DATA"]
train, test = pd.read_csv(f"{data}/train.csv"), pd.read_csv(f"{data}/test.csv")


def features(comments):
    x = pd.DataFrame({k: comments.str.count(p, flags=re.I) for k, p in PATTERNS.items()})
    return x.assign(length=comments.str.len() / 100, bad=comments.str.contains("bad|angry") * 1)


model = LogisticRegression(max_iter=500)
oof = cross_val_predict(model, features(train["Comment"]), train["Insult"], cv=5, method="predict_proba")[:, 1]
model.fit(features(train["Comment"]), train["Insult"])
print(dict(zip(features(test["Comment"]).columns, model.coef_[0].round(2))))
test["Insult"] = model.predict_proba(features(test["Comment"]))[:, 1]
test[["Insult", "Comment"]].to_csv("submission.csv", index=False)
print(f"podium-metric: {roc_auc_score(train['Insult'], oof):.4f}")
""",
    ),
]
