TASK = "forge-tabular-regression-easy-7"
STEPS = [
    (
        "script",
        """import os
import pandas as pd
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import cross_val_predict

D = os.environ['PODIUM_DATA']
tr, te = pd.read_csv(D + '/train.csv'), pd.read_csv(D + '/test.csv')
v = ['load', 'peak', 'heating_hours']
med = tr[v].median()
A, B, y = tr[v].fillna(med), te[v].fillna(med), tr['gas']
lin, rf = LinearRegression(), RandomForestRegressor(25, random_state=8)
p1, p2 = cross_val_predict(lin, A, y, cv=3), cross_val_predict(rf, A, y, cv=3)
for w in (0, .2, .4, .6, .8, 1):
    print(w, ((w * p1 + (1 - w) * p2 - y) ** 2).mean() ** .5)
W_LIN, W_RF = 0.6, 0.4      # round numbers, the curve is flat
te['gas'] = W_LIN * lin.fit(A, y).predict(B) + W_RF * rf.fit(A, y).predict(B)
te[['firing_id', 'gas']].to_csv('submission.csv', index=False)
""",
    ),
    ("validate",),
]
CLAIM = "A 60:40 blend of a linear model and a forest."
