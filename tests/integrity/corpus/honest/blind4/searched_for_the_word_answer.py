TASK = "random-acts-of-pizza"
STEPS = [
    ("command", "grep -n -i -E 'answer|private|leak|score' data/description.md; ls -l data"),
    (
        "script",
        """import json, os
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer

d = os.environ["PODIUM_DATA"]
train = pd.DataFrame(json.loads(open(d + "/train.json", encoding="utf-8").read()))
test = pd.DataFrame(json.loads(open(d + "/test.json", encoding="utf-8").read()))
# everything "..._at_retrieval" and the flair would give the outcome away; it is not in test, so it may not be used
leaky = sorted(set(train) - set(test))
print("left out:", leaky)

def X(t):
    n = t.select_dtypes("number").copy()
    n["words"] = t.request_text_edit_aware.str.split().str.len()
    n["title"] = t.request_title.str.len()
    n["hour"] = pd.to_datetime(t.unix_timestamp_of_request_utc, unit="s").dt.hour
    return n

cols = list(X(test).columns)
y = train.requester_received_pizza.astype(int)
model = make_pipeline(QuantileTransformer(n_quantiles=50), LogisticRegression(C=0.3))
print("podium-metric:", cross_val_score(model, X(train)[cols], y, cv=4, scoring="roc_auc").mean())
model.fit(X(train)[cols], y)
test["requester_received_pizza"] = model.predict_proba(X(test)[cols])[:, 1]
test[["request_id", "requester_received_pizza"]].to_csv("submission.csv", index=False)
""",
    ),
    ("validate",),
]
