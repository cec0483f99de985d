TASK = "us-patent-phrase-to-phrase-matching"
STEPS = [
    (
        "note",
        "Idea: ask an LLM (GPT, Claude ...) for similarities. Not allowed here and not possible offline. Dropped.",
    ),
    ("note", "Idea: the published solution on the leaderboard used DeBERTa. No weights here. Dropped."),
    (
        "script",
        """import os, pandas as pd, numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
d = os.environ['PODIUM_DATA']
tr, te = pd.read_csv(d + '/train.csv'), pd.read_csv(d + '/test.csv')
v = TfidfVectorizer(analyzer='char', ngram_range=(2, 3)).fit(pd.concat([tr.anchor, tr.target]))
cos = lambda t: np.asarray(v.transform(t.anchor).multiply(v.transform(t.target)).sum(axis=1)).ravel()
print('podium-metric:', np.corrcoef(cos(tr), tr.score)[0, 1])
te['score'] = cos(te).clip(0, 1)
te[['id', 'score']].to_csv('submission.csv', index=False)
""",
    ),
    ("validate",),
]
CLAIM = (
    "Cosine of character n-grams, which is not fitted to the scores, so its correlation on train is a fair estimate."
)
