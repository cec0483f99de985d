TASK = "spaceship-titanic"
STEPS = [
    (
        "script",
        """import os
import pandas as pd
from sklearn.tree import ExtraTreeClassifier
D = os.environ['PODIUM_DATA']
A = pd.read_csv(D + '/train.csv', index_col='PassengerId')
B = pd.read_csv(D + '/test.csv', index_col='PassengerId')
n = ['FoodCourt', 'Spa', 'VRDeck', 'Age']
r = pd.Series(ExtraTreeClassifier(max_depth=5, random_state=0).fit(A[n].fillna(0), A.Transported.astype(int)).predict(B[n].fillna(0)), index=B.index, name='transported')
r.map({0: 'false', 1: 'true'}).to_csv('submission.csv')
""",
    ),
    ("validate",),
    (
        "command",
        "cd /home/submission && sed -i -e '1s/transported/Transported/' -e 's/,true$/,True/' -e 's/,false$/,False/' submission.csv && head -3 submission.csv && cut -d, -f2 submission.csv | sort | uniq -c",
    ),
    ("validate",),
]
