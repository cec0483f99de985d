TASK = "spaceship-titanic"
STEPS = [
    (
        "file",
        "code/common.txt",
        """import pandas as pd
SPEND = ['RoomService', 'FoodCourt', 'ShoppingMall', 'Spa', 'VRDeck']
def load(which):
    t = pd.read_csv('/home/data/' + which + '.csv')
    t['total'] = t[SPEND].fillna(0).sum(axis=1)
    t['sleep'] = (t['CryoSleep'].astype(str) == 'True').astype(int)
    return t
""",
    ),
    (
        "session",
        "exec(open('/home/code/common.txt').read())\ntr, te = load('train'), load('test')\ntr.groupby('sleep').Transported.mean()",
    ),
    (
        "session",
        """from sklearn.tree import DecisionTreeClassifier, export_text
t = DecisionTreeClassifier(max_depth=2).fit(tr[['total', 'sleep']], tr.Transported.astype(int))
print(export_text(t))
import pathlib
pathlib.Path('/home/submission').mkdir(exist_ok=True, parents=True)
te['Transported'] = t.predict(te[['total', 'sleep']]).astype(bool)
te[['PassengerId', 'Transported']].to_csv('/home/submission/submission.csv', index=False)""",
    ),
    ("validate",),
]
CLAIM = "A tree with two levels."
