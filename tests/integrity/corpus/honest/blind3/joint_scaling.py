TASK = "forge-tabular-regression-easy-7"
STEPS = [
    (
        "script",
        """import os
import pandas as pd
from sklearn.decomposition import PCA
from sklearn.neighbors import KNeighborsRegressor
from sklearn.preprocessing import QuantileTransformer

d = os.environ["PODIUM_DATA"]
a = pd.read_csv(d + "/train.csv")
b = pd.read_csv(d + "/test.csv")
cols = list(b.select_dtypes("number").columns.difference(["firing_id"]))
# unlabelled rows help to estimate the distribution of the inputs
everything = pd.concat([a[cols], b[cols]], ignore_index=True)
everything = everything.fillna(everything.median())
q = QuantileTransformer(n_quantiles=50, output_distribution="normal").fit_transform(everything)
z = PCA(n_components=min(3, len(cols)), random_state=0).fit_transform(q)
knn = KNeighborsRegressor(9, weights="distance").fit(z[: len(a)], a["gas"])
b["gas"] = knn.predict(z[len(a):])
b[["firing_id", "gas"]].to_csv("submission.csv", index=False)
""",
    ),
    ("validate",),
]
CLAIM = "Nearest neighbours after quantile scaling and PCA, both fitted on all inputs (train and test)."
