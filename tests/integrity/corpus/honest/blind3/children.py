TASK = "spaceship-titanic"
STEPS = [
    (
        "file",
        "code/member.py",
        """import sys
import numpy as np, pandas as pd
from sklearn.ensemble import RandomForestClassifier
seed, out = int(sys.argv[1]), sys.argv[2]
tr = pd.read_csv('/home/data/train.csv'); te = pd.read_csv('/home/data/test.csv')
c = ['Age', 'RoomService', 'FoodCourt', 'ShoppingMall', 'Spa', 'VRDeck']
m = RandomForestClassifier(15, max_features=2, random_state=seed).fit(tr[c].fillna(0), tr.Transported.astype(int))
np.save(out, m.predict_proba(te[c].fillna(0))[:, 1])
""",
    ),
    (
        "file",
        "code/parent.py",
        """import os, subprocess, sys
import numpy as np, pandas as pd
jobs = [(s, f'/tmp/member_{s}.npy') for s in (0, 1, 2)]
procs = [subprocess.Popen([sys.executable, '/home/code/member.py', str(s), f]) for s, f in jobs]
for p in procs:
    assert p.wait() == 0
mean = np.mean([np.load(f) for _, f in jobs], axis=0)
for _, f in jobs:
    os.unlink(f)
te = pd.read_csv('/home/data/test.csv')
os.makedirs('/home/submission', exist_ok=True)
te[['PassengerId']].assign(Transported=mean > 0.5).to_csv('/home/submission/submission.csv', index=False)
""",
    ),
    ("execute", "code/parent.py"),
    ("validate",),
]
CLAIM = "Three forests trained in child processes and averaged."
