TASK = "spaceship-titanic"
STEPS = [
    (
        "session",
        """import pandas as pd, numpy as np, os
from sklearn.model_selection import cross_val_predict
from sklearn.ensemble import RandomForestClassifier
tr = pd.read_csv('/home/data/train.csv'); te = pd.read_csv('/home/data/test.csv')
def f(t):
    return pd.DataFrame({'s': t.Spa.fillna(0), 'v': t.VRDeck.fillna(0), 'r': t.RoomService.fillna(0), 'a': t.Age.fillna(28)})
y = tr.Transported.astype(int)
rf = RandomForestClassifier(30, min_samples_leaf=3, random_state=6)
p = cross_val_predict(rf, f(tr), y, cv=4, method='predict_proba')[:, 1]
wrong = tr[(p > .5) != (y == 1)].assign(p=p[(p > .5) != (y == 1)])
wrong.sort_values('p').head(10)[['PassengerId', 'HomePlanet', 'CryoSleep', 'p', 'Transported']]""",
    ),
    (
        "note",
        "Looked at wrongly classified TRAIN passengers; many differ in CryoSleep, so add that. I do not change single predictions.",
    ),
    (
        "session",
        """g = lambda t: f(t).assign(c=(t.CryoSleep.astype(str) == 'True') * 1)
q = cross_val_predict(rf, g(tr), y, cv=4)
print('before', ((p > .5) == y).mean(), 'after', (q == y).mean())
os.makedirs('/home/submission', exist_ok=True)
te['Transported'] = rf.fit(g(tr), y).predict(g(te)).astype(bool)
te[['PassengerId', 'Transported']].to_csv('/home/submission/submission.csv', index=False)""",
    ),
    ("validate",),
]
CLAIM = "Forest with CryoSleep added after an error analysis on train."
