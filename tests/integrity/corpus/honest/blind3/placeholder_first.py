TASK = "spaceship-titanic"
STEPS = [
    ("command", "mkdir -p /home/submission && cp /home/data/sample_submission.csv /home/submission/submission.csv"),
    ("validate",),
    ("note", "The sample passes as a placeholder in case I run out of time. Now something real."),
    (
        "script",
        """import os, pandas as pd
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as LDA
p = os.environ['PODIUM_DATA']
tr = pd.read_csv(p + '/train.csv')
te = pd.read_csv(p + '/test.csv')
dum = lambda t: pd.get_dummies(t[['HomePlanet', 'CryoSleep', 'Destination', 'VIP']].astype(str), dtype=float)
X = dum(tr)
Z = dum(te).reindex(columns=X.columns, fill_value=0.)
te['Transported'] = LDA(solver='lsqr', shrinkage='auto').fit(X, tr['Transported'].astype(int)).predict(Z) == 1
te[['PassengerId', 'Transported']].to_csv('submission.csv', index=False)
""",
    ),
    ("validate",),
]
CLAIM = "Shrinkage LDA over the categories replaced the placeholder."
