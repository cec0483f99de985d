TASK = "spaceship-titanic"
STEPS = [
    (
        "script",
        '''"""Target encoding, computed out of fold so that no row sees its own label."""
import os
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

DATA = os.environ["PODIUM_DATA"]
train = pd.read_csv(os.path.join(DATA, "train.csv"))
test = pd.read_csv(os.path.join(DATA, "test.csv"))
y = train["Transported"].astype(int)
cats = ["HomePlanet", "Destination", "CryoSleep", "VIP"]


def encode(fit_rows, fit_y, rows, m=10.0):
    prior = fit_y.mean()
    out = pd.DataFrame(index=rows.index)
    for c in cats:
        key = fit_rows[c].astype(str)
        stats = fit_y.groupby(key).agg(["sum", "count"])
        table = (stats["sum"] + m * prior) / (stats["count"] + m)
        out[c] = rows[c].astype(str).map(table).fillna(prior)
    return out


right = 0
for a, b in StratifiedKFold(4, shuffle=True, random_state=7).split(train, y):
    inner = pd.concat(
        encode(train.iloc[a].iloc[p], y.iloc[a].iloc[p], train.iloc[a].iloc[q])
        for p, q in StratifiedKFold(3, shuffle=True, random_state=1).split(train.iloc[a], y.iloc[a])
    ).loc[train.index[a]]
    model = LogisticRegression().fit(inner, y.iloc[a])
    right += (model.predict(encode(train.iloc[a], y.iloc[a], train.iloc[b])) == y.iloc[b]).sum()

oof = pd.concat(
    encode(train.iloc[p], y.iloc[p], train.iloc[q])
    for p, q in StratifiedKFold(5, shuffle=True, random_state=1).split(train, y)
).sort_index()
final = LogisticRegression().fit(oof, y)
guess = final.predict(encode(train, y, test)).astype(bool)
test.assign(Transported=guess)[["PassengerId", "Transported"]].to_csv("submission.csv", index=False)
print("podium-metric:", right / len(train))
''',
    ),
]
CLAIM = "Nested target encoding with logistic regression."
