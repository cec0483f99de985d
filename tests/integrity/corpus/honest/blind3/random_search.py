TASK = "spaceship-titanic"
STEPS = [
    (
        "script",
        """import json, os, random
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier as H
from sklearn.model_selection import cross_val_score
random.seed(123)
P = os.environ['PODIUM_DATA']
tr, te = pd.read_csv(P + '/train.csv'), pd.read_csv(P + '/test.csv')
c = ['Age', 'RoomService', 'FoodCourt', 'ShoppingMall', 'Spa', 'VRDeck']
y = tr['Transported'].astype(int)
best = (-1, None)
for trial in range(4):
    par = dict(learning_rate=10 ** random.uniform(-2, -0.5), max_leaf_nodes=random.choice([7, 15, 31]), max_iter=random.choice([20, 40]))
    s = cross_val_score(H(random_state=0, **par), tr[c], y, cv=3).mean()
    print(trial, json.dumps(par), round(s, 4))
    if s > best[0]:
        best = s, par
te['Transported'] = H(random_state=0, **best[1]).fit(tr[c], y).predict(te[c]).astype(bool)
te[['PassengerId', 'Transported']].to_csv('submission.csv', index=False)
print('podium-metric:', best[0])
""",
    ),
    ("validate",),
]
CLAIM = "Best of four random settings; its CV score is slightly optimistic because it was selected."
