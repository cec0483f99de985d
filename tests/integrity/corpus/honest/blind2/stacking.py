TASK = "forge-tabular-regression-easy-7"
STEPS = [
    (
        "script",
        """import os
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

path = os.environ["PODIUM_DATA"]
train, test = pd.read_csv(path + "/train.csv").sample(1500, random_state=1), pd.read_csv(path + "/test.csv")
numbers = test.select_dtypes("number").columns.tolist()
words = ["valley", "programme", "meter"]
prep = lambda: make_column_transformer(
    (make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), numbers),
    (OneHotEncoder(handle_unknown="ignore", sparse_output=False), words),
)
y = np.log1p(train["gas"])
base = [make_pipeline(prep(), m) for m in (Ridge(3), ExtraTreesRegressor(30, random_state=0), HistGradientBoostingRegressor(max_iter=50))]
folds = KFold(4, shuffle=True, random_state=7)
level1 = np.column_stack([cross_val_predict(m, train, y, cv=folds) for m in base])
top = Ridge(1)
final = cross_val_predict(top, level1, y, cv=folds)
print("podium-metric:", np.sqrt(np.mean((final - y) ** 2)))
top.fit(level1, y)
test["gas"] = np.expm1(top.predict(np.column_stack([m.fit(train, y).predict(test) for m in base]))).clip(0)
test[["firing_id", "gas"]].to_csv("submission.csv", index=False)
""",
    ),
    ("validate",),
]
CLAIM = "Stack of three, weights by ridge on out-of-fold predictions."
