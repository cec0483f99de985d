TASK = "spaceship-titanic"
STEPS = [
    (
        "script",
        """import os
import pandas as pd
from sklearn.cluster import KMeans

d = os.environ["PODIUM_DATA"]
train = pd.read_csv(d + "/train.csv"); test = pd.read_csv(d + "/test.csv")
cols = ["Age", "FoodCourt", "ShoppingMall"]
km = KMeans(4, n_init=3, random_state=0).fit(train[cols].fillna(0))
cut = len(train) * 3 // 4
lab = pd.Series(km.labels_)
y = train["Transported"].astype(float)
rates = y[:cut].groupby(lab[:cut]).mean()
hold = ((lab[cut:].map(rates).fillna(0.5) > 0.5) == (y[cut:] > 0.5)).mean()
maj = ((y[:cut].mean() > 0.5) == (y[cut:] > 0.5)).mean()
print("clusters", hold, "majority", maj)
rates = y.groupby(lab).mean()
test["Transported"] = (pd.Series(km.predict(test[cols].fillna(0))).map(rates) > 0.5).to_numpy()
test[["PassengerId", "Transported"]].to_csv("submission.csv", index=False)
print("podium-metric:", hold)
""",
    ),
    ("note", "Clusters are hardly better than the majority, if at all. Out of ideas; hand it in as it is."),
    ("validate",),
]
CLAIM = "Cluster averages. This is a weak solution: compare the two numbers the script printed."
