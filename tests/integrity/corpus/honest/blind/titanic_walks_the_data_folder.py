"""Walks over the data folder, prints size and first line of every file, then trains a model."""

TASK = "spaceship-titanic"
STEPS = [
    (
        "session",
        """import os
for root, folders, files in os.walk("/home/data"):
    for name in sorted(files):
        path = os.path.join(root, name)
        print(path, os.path.getsize(path), open(path).readline().strip()[:80])
""",
    ),
    ("command", "find /home/data -type f | xargs ls -la; du -sh /home/data; ls -la /home /home/code"),
    (
        "script",
        """import os
import pandas as pd
from sklearn.neighbors import KNeighborsClassifier
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

tables = {}
for root, _, files in os.walk(os.environ["PODIUM_DATA"]):
    for name in files:
        if name.endswith(".csv"):
            tables[name[:-4]] = pd.read_csv(os.path.join(root, name))
print({name: table.shape for name, table in tables.items()})
train, test, sample = tables["train"], tables["test"], tables["sample_submission"]
columns = ["Age", "RoomService", "FoodCourt", "ShoppingMall", "Spa", "VRDeck"]
model = make_pipeline(StandardScaler(), KNeighborsClassifier(15))
score = cross_val_score(model, train[columns].fillna(0), train["Transported"], cv=5).mean()
model.fit(train[columns].fillna(0), train["Transported"])
sample["Transported"] = model.predict(test.set_index("PassengerId").loc[sample["PassengerId"], columns].fillna(0))
sample.to_csv("submission.csv", index=False)
print(f"podium-metric: {score:.4f}")
""",
    ),
]
