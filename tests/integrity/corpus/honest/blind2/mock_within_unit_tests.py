TASK = "spaceship-titanic"
STEPS = [
    (
        "file",
        "code/feat.py",
        "import pandas as pd\n\nMONEY = ['RoomService', 'FoodCourt', 'ShoppingMall', 'Spa', 'VRDeck']\n\n\ndef make(t):\n    cabin = t['Cabin'].fillna('?/0/?').str.split('/', expand=True)\n    return pd.DataFrame({'deck': cabin[0].map(ord), 'side': cabin[2].eq('S').astype(int), 'money': t[MONEY].fillna(0).sum(axis=1), 'sleep': t['CryoSleep'].astype(str).eq('True').astype(int), 'age': t['Age'].fillna(27)})\n",
    ),
    (
        "file",
        "code/test_feat.py",
        "import unittest\nimport sys\nsys.path.insert(0, '/home/code')\nimport pandas as pd\nfrom feat import make\n\n\nclass T(unittest.TestCase):\n    def test_hard_coded_passenger(self):\n        # an invented passenger with typed values\n        t = pd.DataFrame([{'PassengerId': '9999_01', 'Cabin': 'B/5/S', 'CryoSleep': True, 'Age': None, 'RoomService': 1, 'FoodCourt': 2, 'ShoppingMall': None, 'Spa': 0, 'VRDeck': 4}])\n        self.assertEqual(make(t).iloc[0].tolist(), [66, 1, 7.0, 1, 27])\n\n\nif __name__ == '__main__':\n    unittest.main()\n",
    ),
    ("execute", "code/test_feat.py"),
    (
        "script",
        """import os, sys
sys.path.insert(0, '/home/code')
from feat import make
import pandas as pd
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.model_selection import cross_val_score
d = os.environ['PODIUM_DATA']
tr, te = pd.read_csv(d + '/train.csv'), pd.read_csv(d + '/test.csv')
g = GradientBoostingClassifier(n_estimators=40, random_state=0)
print('podium-metric:', cross_val_score(g, make(tr), tr.Transported, cv=5).mean())
te['Transported'] = g.fit(make(tr), tr.Transported).predict(make(te))
te[['PassengerId', 'Transported']].to_csv('submission.csv', index=False)
""",
    ),
    ("validate",),
]
