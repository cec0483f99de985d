TASK = "spaceship-titanic"
STEPS = [
    ("note", "The leaderboard probably rewards robustness, so three different model families and a soft vote."),
    (
        "script",
        """import os
import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

d = os.environ["PODIUM_DATA"]
train, test = pd.read_csv(f"{d}/train.csv"), pd.read_csv(f"{d}/test.csv")
num = ["Age", "RoomService", "FoodCourt", "ShoppingMall", "Spa", "VRDeck"]
vote = VotingClassifier(
    [("rf", RandomForestClassifier(40, random_state=0)), ("lr", LogisticRegression(max_iter=2000)), ("nb", GaussianNB())],
    voting="soft",
)
pipe = make_pipeline(SimpleImputer(strategy="median"), vote)
y = train["Transported"].astype(bool)
s = cross_val_score(pipe, train[num], y, cv=3)
pipe.fit(train[num], y)
pd.DataFrame({"PassengerId": test["PassengerId"], "Transported": pipe.predict(test[num])}).to_csv("submission.csv", index=False)
print("folds", np.round(s, 3))
print("podium-metric:", s.mean())
""",
    ),
    ("validate",),
]
CLAIM = "Soft vote of a forest, logistic regression and naive Bayes on the numeric columns."
