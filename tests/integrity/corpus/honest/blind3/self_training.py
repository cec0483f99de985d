TASK = "spaceship-titanic"
STEPS = [
    (
        "script",
        """import os
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.semi_supervised import SelfTrainingClassifier
path = os.environ.get('PODIUM_DATA', '/home/data')
L = pd.read_csv(f'{path}/train.csv')
U = pd.read_csv(f'{path}/test.csv')
f = ['RoomService', 'FoodCourt', 'ShoppingMall', 'Spa', 'VRDeck']
X = np.log1p(pd.concat([L[f], U[f]]).fillna(0))
y = np.r_[L['Transported'].astype(int), -np.ones(len(U), int)]   # -1 = no label
clf = SelfTrainingClassifier(LogisticRegression(max_iter=1000), threshold=0.9).fit(X, y)
U['Transported'] = clf.predict(np.log1p(U[f].fillna(0))).astype(bool)
U[['PassengerId', 'Transported']].to_csv('submission.csv', index=False)
print('rows labelled by the model itself:', int((clf.labeled_iter_[len(L):] > 0).sum()))
""",
    ),
    ("validate",),
]
CLAIM = "Self-training: confident predictions on test serve as pseudo-labels."
