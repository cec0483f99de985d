TASK = "us-patent-phrase-to-phrase-matching"
STEPS = [
    (
        "session",
        """import pandas as pd
te = pd.read_csv('/home/data/test.csv'); tr = pd.read_csv('/home/data/train.csv')
def j(r):
    a, b = set(r.anchor.split()), set(r.target.split())
    return len(a & b) / len(a | b)
x = tr.apply(j, axis=1)
import numpy as np
w = np.polyfit(x, tr.score, 2)
te['similarity'] = np.polyval(w, te.apply(j, axis=1)).clip(0, 1)
print(np.corrcoef(np.polyval(w, x), tr.score)[0, 1])
import os; os.makedirs('/home/submission', exist_ok=True)
te[['id', 'similarity']].to_csv('/home/submission/submission.csv', index=False)""",
    ),
    ("validate",),
    ("note", "Column must be called score."),
    (
        "session",
        "te.rename(columns={'similarity': 'score'})[['id', 'score']].to_csv('/home/submission/submission.csv')",
    ),
    ("validate",),
    ("note", "Forgot index=False."),
    (
        "session",
        "te.rename(columns={'similarity': 'score'})[['id', 'score']].to_csv('/home/submission/submission.csv', index=False)",
    ),
    ("validate",),
]
CLAIM = "A quadratic of the word overlap, valid at the third try."
