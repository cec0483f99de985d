TASK = "spaceship-titanic"
STEPS = [
    (
        "script",
        """import os
import numpy as np, pandas as pd

def accuracy_score(a, b):          # no need to import a library for that
    a, b = np.asarray(a), np.asarray(b)
    return float((a == b).mean())

folder = os.environ['PODIUM_DATA']
df = pd.read_csv(folder + '/train.csv')
dt = pd.read_csv(folder + '/test.csv')
cols = ['RoomService', 'FoodCourt', 'ShoppingMall', 'Spa', 'VRDeck']
A = np.c_[np.ones(len(df)), np.log1p(df[cols].fillna(0).values)]
B = np.c_[np.ones(len(dt)), np.log1p(dt[cols].fillna(0).values)]
y = df['Transported'].astype(float).values

def train(X, y, steps=400, lr=0.05):
    w = np.zeros(X.shape[1])
    for _ in range(steps):
        p = 1 / (1 + np.exp(-X @ w))
        w -= lr * X.T @ (p - y) / len(y)
    return w

fold = np.arange(len(y)) % 4
oof = np.zeros(len(y), bool)
for k in range(4):
    oof[fold == k] = A[fold == k] @ train(A[fold != k], y[fold != k]) > 0
dt['Transported'] = B @ train(A, y) > 0
dt[['PassengerId', 'Transported']].to_csv('submission.csv', index=False)
print('podium-metric:', accuracy_score(oof, y == 1))
""",
    ),
    ("validate",),
]
CLAIM = "Logistic regression by gradient descent in numpy."
