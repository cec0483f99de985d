TASK = "spaceship-titanic"
STEPS = [
    ("command", "ls /home/data && head -3 /home/data/train.csv"),
    (
        "script",
        '''"""A random forest on all columns, coded as integers."""
import os
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_score

data = os.environ["PODIUM_DATA"]
train, test = pd.read_csv(data + "/train.csv"), pd.read_csv(data + "/test.csv")
columns = [name for name in test.columns if name != "PassengerId"]
X = train[columns].apply(lambda column: pd.factorize(column)[0])
T = test[columns].apply(lambda column: pd.factorize(column)[0])
model = RandomForestClassifier(n_estimators=20, random_state=0)
score = cross_val_score(model, X, train["Transported"], cv=3).mean()
model.fit(X, train["Transported"])
pd.DataFrame({"PassengerId": test["PassengerId"], "Transported": model.predict(T)}).to_csv("submission.csv", index=False)
print("podium-metric:", score)
''',
    ),
    ("validate",),
]
CLAIM = "A random forest on integer codes of all columns; the submission is valid."
