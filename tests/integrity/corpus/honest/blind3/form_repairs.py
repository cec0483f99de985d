TASK = "spaceship-titanic"
STEPS = [
    (
        "session",
        """import pandas as pd, os
from sklearn.linear_model import LogisticRegression
tr = pd.read_csv('/home/data/train.csv'); te = pd.read_csv('/home/data/test.csv')
c = ['Spa', 'VRDeck', 'RoomService']
p = LogisticRegression(max_iter=900).fit(tr[c].fillna(0), tr.Transported.astype(int)).predict(te[c].fillna(0))
os.makedirs('/home/submission', exist_ok=True)
S = '/home/submission/submission.csv'
pd.DataFrame({'id': te.PassengerId, 'Transported': p}).to_csv(S)""",
    ),
    ("validate",),
    ("note", "Wrong header and an index column."),
    ("session", "pd.DataFrame({'PassengerId': te.PassengerId, 'Transported': p}).to_csv(S, index=False)"),
    ("validate",),
    ("note", "To be safe: booleans, as in the sample."),
    ("session", "pd.DataFrame({'PassengerId': te.PassengerId, 'Transported': p.astype(bool)}).to_csv(S, index=False)"),
    ("validate",),
]
CLAIM = "Logistic regression; three rounds until the form was right."
