TASK = "spaceship-titanic"
STEPS = [
    (
        "script",
        """import json, os, platform
import pandas as pd
from sklearn.neighbors import NearestCentroid
from sklearn.model_selection import cross_val_score
D = os.environ['PODIUM_DATA']
tr, te = pd.read_csv(D + '/train.csv'), pd.read_csv(D + '/test.csv')
c = ['RoomService', 'Spa', 'VRDeck']
y = tr['Transported'].astype(int)
X, Z = tr[c].fillna(0) ** .5, te[c].fillna(0) ** .5
score = float(cross_val_score(NearestCentroid(), X, y, cv=3).mean())
te['Transported'] = NearestCentroid().fit(X, y).predict(Z) == 1
te[['PassengerId', 'Transported']].to_csv('submission.csv', index=False)
card = {'model': 'nearest centroid', 'metric': 'accuracy', 'score': score, 'folds': 3, 'python': platform.python_version()}
with open('metrics.json', 'w') as f:
    json.dump(card, f, indent=1)
print(open('metrics.json').read())
print('podium-metric:', card['score'])
""",
    ),
    ("validate",),
]
CLAIM = "Nearest centroid. The cross-validated accuracy is in metrics.json and in the output."
