TASK = "tabular-playground-series-dec-2021"
STEPS = [
    (
        "script",
        """import os
import pandas as pd
from sklearn.ensemble import VotingClassifier, ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

data = os.environ["PODIUM_DATA"]
train, test = pd.read_csv(data + "/train.csv"), pd.read_csv(data + "/test.csv")
X, y = train.drop(columns=["Id", "Cover_Type"]), train["Cover_Type"]
cut = int(0.75 * len(X))
vote = VotingClassifier(
    [
        ("rf", RandomForestClassifier(40, random_state=0)),
        ("et", ExtraTreesClassifier(40, random_state=0)),
        ("lr", make_pipeline(StandardScaler(), LogisticRegression(max_iter=300))),
        ("nb", GaussianNB()),
        ("nn", make_pipeline(StandardScaler(), KNeighborsClassifier(11))),
    ],
    weights=[3, 3, 2, 1, 1],
)
hold = vote.fit(X[:cut], y[:cut]).score(X[cut:], y[cut:])
vote.fit(X, y)
pd.DataFrame({"Id": test["Id"], "Cover_Type": vote.predict(test[X.columns])}).to_csv("submission.csv", index=False)
print("podium-metric:", hold)
""",
    ),
    ("validate",),
]
