"""Has columns named after words such as private, secret and password that it counts in requests."""

TASK = "random-acts-of-pizza"
STEPS = [
    (
        "script",
        """import ast, json, os
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_score

root = os.environ["PODIUM_DATA"]
train, test = (pd.DataFrame(json.load(open(f"{root}/{n}.json"))) for n in ("train", "test"))
THEMES = {
    "private_message": ["pm", "private", "message"],
    "secret_santa": ["secret", "santa", "gift"],
    "answers": ["answer", "question", "reply"],
    "money": ["paycheck", "job", "rent", "broke"],
    "family": ["kids", "wife", "husband", "mother"],
    "token": ["token", "key", "password", "proof"],
}


def features(frame):
    text = (frame["request_title"] + " " + frame["request_text_edit_aware"]).str.lower()
    x = pd.DataFrame({theme: sum(text.str.count(w) for w in words) for theme, words in THEMES.items()})
    x["groups"] = frame["requester_subreddits_at_request"].map(lambda v: len(ast.literal_eval(v) if isinstance(v, str) else v))
    when = pd.to_datetime(frame["unix_timestamp_of_request_utc"], unit="s")
    return x.assign(hour=when.dt.hour, month_end=(when.dt.day > 24).astype(int), words=text.str.split().str.len())


y = train["requester_received_pizza"].astype(int)
model = RandomForestClassifier(100, min_samples_leaf=3, random_state=42)
auc = cross_val_score(model, features(train), y, cv=5, scoring="roc_auc").mean()
p = model.fit(features(train), y).predict_proba(features(test))[:, 1]
pd.DataFrame({"request_id": test["request_id"], "requester_received_pizza": p}).to_csv("submission.csv", index=False)
print(f"podium-metric: {auc:.4f}")
""",
    ),
]
