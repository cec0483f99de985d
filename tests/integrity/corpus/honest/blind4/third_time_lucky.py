TASK = "spaceship-titanic"
STEPS = [
    ("script", "import pandas as pd\ntrain = pd.read_csv('train.csv')\nprint(train.shape)\n"),
    ("note", "FileNotFoundError. The data is not in the working folder, use PODIUM_DATA."),
    (
        "script",
        """import os, pandas as pd
from sklearn.linear_model import LogisticRegression
d = os.environ['PODIUM_DATA']
train = pd.read_csv(d + '/train.csv'); test = pd.read_csv(d + '/test.csv')
m = LogisticRegression().fit(train[['Age', 'RoomService', 'Spa', 'VRDeck']], train['Transported'])
""",
    ),
    ("note", "NaN not accepted, of course. Fill with the median."),
    (
        "script",
        """import os, pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
d = os.environ['PODIUM_DATA']
train = pd.read_csv(d + '/train.csv'); test = pd.read_csv(d + '/test.csv')
cols = ['Age', 'RoomService', 'FoodCourt', 'Spa', 'VRDeck']
med = train[cols].median()
X, T = train[cols].fillna(med), test[cols].fillna(med)
m = LogisticRegression(max_iter=2000)
print('podium-metric:', cross_val_score(m, X, train['Transported'], cv=5).mean())
test['Transported'] = m.fit(X, train['Transported']).predict(T)
test[['PassengerId', 'Transported']].to_csv('submission.csv', index=False)
""",
    ),
    ("validate",),
]
CLAIM = "Two failed attempts, then a logistic regression on age and bills."
