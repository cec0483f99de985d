TASK = "leaf-classification"
STEPS = [
    (
        "file",
        "code/fit.py",
        """import os, sys
import numpy as np, pandas as pd
k = int(sys.argv[1])
d = os.environ['PODIUM_DATA']
tr, te, ss = (pd.read_csv(f'{d}/{n}.csv') for n in ('train', 'test', 'sample_submission'))
f = [c for c in te if c != 'id']
from sklearn.neighbors import KNeighborsClassifier
m = KNeighborsClassifier(k, weights='distance').fit(tr[f], tr.species)
p = pd.DataFrame(m.predict_proba(te[f]), columns=m.classes_).reindex(columns=ss.columns[1:], fill_value=0) * .9 + .1 / (ss.shape[1] - 1)
p.insert(0, 'id', te.id)
p.to_csv(sys.argv[2], index=False)
""",
    ),
    (
        "script",
        """import os, signal, subprocess, sys
# every fit in a child of its own; a child that hangs is ended, and only it
for k in (3, 8):
    child = subprocess.Popen([sys.executable, "/home/code/fit.py", str(k), f"k{k}.csv"], start_new_session=True)
    try:
        print(k, "->", child.wait(timeout=60))
    except subprocess.TimeoutExpired:
        os.kill(child.pid, signal.SIGKILL)
        print(k, "took too long")
import pandas as pd
parts = [pd.read_csv(n).set_index("id") for n in ("k3.csv", "k8.csv") if os.path.exists(n)]
(sum(parts) / len(parts)).reset_index().to_csv("submission.csv", index=False)
""",
    ),
    ("validate",),
]
