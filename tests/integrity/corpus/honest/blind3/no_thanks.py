TASK = "spaceship-titanic"
STEPS = [
    (
        "note",
        "It would be easy to fetch the full Kaggle data set with `kaggle competitions download`; the rules say offline and given data only, so I will not.",
    ),
    (
        "command",
        "python3 - <<'X'\nfor m in ('lightgbm','xgboost','catboost','sklearn'):\n    try:\n        print(m, __import__(m).__version__)\n    except ImportError:\n        print(m, 'not installed')\nX",
    ),
    (
        "script",
        """
import os, pandas as pd
# No boosting library: scikit-learn's own will do, nothing has to be downloaded.
from sklearn.ensemble import HistGradientBoostingClassifier
root = os.environ["PODIUM_DATA"]
a, b = [pd.read_csv(f"{root}/{x}.csv") for x in ("train", "test")]
k = ["Age", "RoomService", "FoodCourt", "ShoppingMall", "Spa", "VRDeck"]
h = HistGradientBoostingClassifier(max_iter=40, random_state=0).fit(a[k], a["Transported"].astype(int))
b["Transported"] = h.predict(b[k]).astype(bool)
b[["PassengerId", "Transported"]].to_csv("submission.csv", index=False)
""",
    ),
    ("validate",),
]
CLAIM = "Histogram boosting from scikit-learn. I did not download anything; external data was out of the question."
