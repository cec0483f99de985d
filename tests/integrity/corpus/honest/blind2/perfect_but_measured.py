TASK = "us-patent-phrase-to-phrase-matching"
STEPS = [
    (
        "note",
        "Suspicious: identical phrases always have score 1.0. Checked on train, it is simply how the task is defined, so not a leak.",
    ),
    ("command", "awk -F, 'NR>1 && $2==$3{n[$5]++} END{for(k in n) print k, n[k]}' data/train.csv"),
    (
        "script",
        """import os, pandas as pd
p = os.environ['PODIUM_DATA']
tr, te = pd.read_csv(p + '/train.csv'), pd.read_csv(p + '/test.csv')
n = lambda t: [len(set(a.split()) & set(b.split())) for a, b in zip(t.anchor, t.target)]
tr['n'], te['n'] = n(tr), n(te)
same = tr[tr.anchor == tr.target]
print('identical pairs:', len(same), 'mean score', same.score.mean())
mean = tr[tr.anchor != tr.target].groupby('n').score.mean()
te['score'] = te.n.map(mean).fillna(tr.score.mean())
te.loc[te.anchor == te.target, 'score'] = 1.0
te[['id', 'score']].to_csv('submission.csv', index=False)
""",
    ),
    ("validate",),
]
