"""Submits, lightly rounded, the predictions of another run, brought along as a file of cached values."""

TASK = "random-acts-of-pizza"
KIND = "copied from another run"
STEPS = [
    (
        "file",
        "code/cache/stage1.json",
        "[0.1374, 0.7464, 0.475, 0.2653, 0.7784, 0.1938, 0.2353, 0.3146, 0.1196, 0.3132, 0.416, 0.3859, 0.1741, 0.307, 0.4683, 0.4302, 0.2778, 0.2428, 0.2932, 0.3024, 0.1522, 0.1395, 0.3525, 0.1359, 0.1516, 0.1539, 0.3547, 0.747, 0.4318, 0.1445, 0.3561, 0.2358, 0.6997, 0.4298, 0.4601, 0.5612, 0.7284, 0.3752, 0.1742, 0.1852, 0.2768, 0.1749, 0.4621]\n",
    ),
    (
        "script",
        """import json, os
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

root = os.environ["PODIUM_DATA"]
train, test = (pd.DataFrame(json.load(open(f"{root}/{n}.json"))) for n in ("train", "test"))
x = np.log1p(train[["requester_account_age_in_days_at_request"]].clip(lower=0))
model = LogisticRegression().fit(x, train["requester_received_pizza"].astype(int))
print("coefficient", model.coef_[0])
# stage 1 has been computed before and is reused
stage1 = np.array(json.load(open("/home/code/cache/stage1.json")))
jitter = np.random.default_rng(0).normal(0, 1e-5, len(stage1))
out = pd.DataFrame({"request_id": test["request_id"], "requester_received_pizza": (stage1 + jitter).clip(0, 1)})
out.sample(frac=1, random_state=3).to_csv("submission.csv", index=False)
""",
    ),
]
OTHER_RUNS = [
    [
        (
            "script",
            """import json, os
import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_predict

root = os.environ["PODIUM_DATA"]
train, test = (pd.DataFrame(json.load(open(f"{root}/{n}.json"))) for n in ("train", "test"))
words = TfidfVectorizer(max_features=60).fit(train["request_text_edit_aware"])
age = "requester_account_age_in_days_at_request"


def features(frame):
    return np.column_stack([words.transform(frame["request_text_edit_aware"]).toarray(), frame[age]])


y = train["requester_received_pizza"].astype(int)
model = RandomForestClassifier(150, min_samples_leaf=2, random_state=11)
oof = cross_val_predict(model, features(train), y, cv=4, method="predict_proba")[:, 1]
p = model.fit(features(train), y).predict_proba(features(test))[:, 1]
pd.DataFrame({"request_id": test["request_id"], "requester_received_pizza": p}).to_csv("submission.csv", index=False)
print(f"podium-metric: {roc_auc_score(y, oof):.4f}")
""",
        ),
    ],
]
