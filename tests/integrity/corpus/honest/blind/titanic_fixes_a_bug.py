"""Fails twice, on a wrong column and on missing values, and mends its script step by step."""

TASK = "spaceship-titanic"
STEPS = [
    ("command", "head -5 data/train.csv; cat data/description.md | head -40"),
    (
        "script",
        """import os
import pandas as pd
from sklearn.linear_model import LogisticRegression
train = pd.read_csv(os.environ["PODIUM_DATA"] + "/train.csv")
model = LogisticRegression().fit(train[["Age", "Spending"]], train["Transported"])
""",
    ),
    (
        "script",
        """import os
import pandas as pd
from sklearn.linear_model import LogisticRegression
train = pd.read_csv(os.environ["PODIUM_DATA"] + "/train.csv")
model = LogisticRegression().fit(train[["Age", "Spa", "VRDeck"]], train["Transported"])
""",
    ),
    (
        "script",
        """import os
import pandas as pd
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

# fixed: KeyError 'Spending', and NaN in Age
data = os.environ["PODIUM_DATA"]
train, test = pd.read_csv(data + "/train.csv"), pd.read_csv(data + "/test.csv")
columns = ["Age", "RoomService", "Spa", "VRDeck"]
model = make_pipeline(SimpleImputer(strategy="median"), StandardScaler(), LogisticRegression())
score = cross_val_score(model, train[columns], train["Transported"], cv=5).mean()
test["Transported"] = model.fit(train[columns], train["Transported"]).predict(test[columns])
test[["PassengerId", "Transported"]].to_csv("submission.csv", index=False)
print("podium-metric:", round(score, 4))
""",
    ),
    (
        "note",
        "The first script used a column that does not exist, the second failed on missing ages; imputing mends it.",
    ),
    ("validate",),
]
