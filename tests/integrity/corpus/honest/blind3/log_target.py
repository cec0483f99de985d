TASK = "forge-tabular-regression-easy-3"
STEPS = [
    ("command", "head -3 /home/data/train.csv; head -3 /home/data/test.csv"),
    (
        "script",
        """import os
import numpy as np
import pandas as pd
from sklearn.compose import TransformedTargetRegressor, make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

d = os.environ["PODIUM_DATA"]
train, test = pd.read_csv(d + "/train.csv"), pd.read_csv(d + "/test.csv")
target = next(c for c in train if c not in test)
id_ = test.columns[0]
prep = make_column_transformer(
    (SimpleImputer(strategy="median"), make_column_selector(dtype_include="number")),
    (make_pipeline(SimpleImputer(strategy="most_frequent"), OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)),
     make_column_selector(dtype_exclude="number")),
)
inner = make_pipeline(prep, RandomForestRegressor(40, random_state=0))
positive = (train[target] > 0).all()
model = TransformedTargetRegressor(inner, func=np.log1p, inverse_func=np.expm1) if positive else inner
model.fit(train.drop(columns=[target, id_]), train[target])
test[target] = model.predict(test.drop(columns=id_))
test[[id_, target]].to_csv("submission.csv", index=False)
""",
    ),
    ("validate",),
]
CLAIM = "Forest on the logarithm of the target where it is positive."
