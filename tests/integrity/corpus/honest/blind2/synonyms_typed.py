TASK = "jigsaw-toxic-comment-classification-challenge"
STEPS = [
    ("note", "Baseline with a typed word list per label. This is knowledge of English, not of the test set."),
    (
        "script",
        """import os, pandas as pd
WORDS = {
    'toxic': ['idiot', 'stupid', 'hate', 'rotten', 'fool', 'angry', 'shut up'],
    'severe_toxic': ['vermin', 'filth'],
    'obscene': ['damn', 'crap', 'rotten'],
    'threat': ["i'll find you", 'kill', 'hurt you', 'watch your back'],
    'insult': ['idiot', 'moron', 'fool', 'loser'],
    'identity_hate': ['your kind', 'go back'],
}
d = os.environ['PODIUM_DATA']
tr, te = pd.read_csv(d + '/train.csv'), pd.read_csv(d + '/test.csv')
from sklearn.metrics import roc_auc_score
score = lambda t, k: t.comment_text.str.lower().map(lambda s: sum(w in s for w in WORDS[k]))
aucs = [roc_auc_score(tr[k], score(tr, k)) for k in WORDS if tr[k].nunique() == 2]
for k in WORDS:
    te[k] = score(te, k) / len(WORDS[k])
te[['id', *WORDS]].to_csv('submission.csv', index=False)
print('podium-metric:', sum(aucs) / len(aucs))
""",
    ),
    ("validate",),
]
CLAIM = "A lexicon baseline, declared: no training."
