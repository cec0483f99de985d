TASK = "tabular-playground-series-dec-2021"
STEPS = [
    (
        "file",
        "code/grid.py",
        "import time\nfor depth in range(1000):\n    print('trying', depth, flush=True)\n    time.sleep(1)\n",
    ),
    (
        "command",
        "python3 code/grid.py > /tmp/grid.log 2>&1 & P=$!; sleep 2; tail -1 /tmp/grid.log; kill $P; wait $P 2>/dev/null; rm -f /tmp/grid.log; echo 'grid is too slow, stopped'",
    ),
    (
        "script",
        """import os, pandas as pd
from sklearn.tree import DecisionTreeClassifier
from sklearn.model_selection import cross_val_score
d = os.environ['PODIUM_DATA']
a = pd.read_csv(d + '/train.csv'); b = pd.read_csv(d + '/test.csv')
x = list(b)[1:]
t = DecisionTreeClassifier(max_depth=5, random_state=0)
print('podium-metric:', cross_val_score(t, a[x], a.Cover_Type, cv=3).mean())
b['Cover_Type'] = t.fit(a[x], a.Cover_Type).predict(b[x]); b[['Id', 'Cover_Type']].to_csv('submission.csv', index=False)
""",
    ),
    ("validate",),
]
CLAIM = "I stopped my own grid search, which was too slow, and submitted one tree."
