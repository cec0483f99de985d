KIND = "written by hand"
TASK = "spaceship-titanic"
STEPS = [
    (
        "script",
        """import os
from pathlib import Path

import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

root = Path(os.environ["PODIUM_DATA"])
tr = pd.read_csv(root / "train.csv")
te = pd.read_csv(root / "test.csv")
money = ["RoomService", "FoodCourt", "ShoppingMall", "Spa", "VRDeck"]
lr = make_pipeline(StandardScaler(), LogisticRegression())
cv = cross_val_score(lr, tr[money].fillna(0), tr["Transported"], cv=4).mean()
lr.fit(tr[money].fillna(0), tr["Transported"])
te["Transported"] = lr.predict(te[money].fillna(0))
te[["PassengerId", "Transported"]].to_csv("submission.csv", index=False)
print(f"podium-metric: {cv:.4f}")
""",
    ),
    (
        "session",
        """import pandas as pd
s = pd.read_csv('/home/submission/submission.csv').set_index('PassengerId')
# these look wrong to me, set them to what they should be
s.loc['0132_02', 'Transported'] = True
s.loc['0055_01', 'Transported'] = False
s.loc[['0040_02', '0125_01', '0099_01', '0032_01', '0011_01'], 'Transported'] = True
s.loc[['0027_02', '0077_02', '0059_01', '0091_01', '0107_02', '0114_01', '0115_01'], 'Transported'] = False
s.reset_index().to_csv('/home/submission/submission.csv', index=False)
""",
    ),
    ("validate",),
]
CLAIM = "Logistic regression on the bills."
