TASK = "tweet-sentiment-extraction"
STEPS = [
    ("command", "head -6 data/train.csv"),
    (
        "session",
        """import pandas as pd
from collections import Counter
tr = pd.read_csv('/home/data/train.csv', keep_default_na=False)
te = pd.read_csv('/home/data/test.csv', keep_default_na=False)
def jac(a, b):
    a, b = set(a.lower().split()), set(b.lower().split())
    return len(a & b) / max(1, len(a | b))
spans = {m: Counter(g.selected_text) for m, g in tr.groupby('sentiment')}
{m: c.most_common(4) for m, c in spans.items()}""",
    ),
    (
        "session",
        """def pick(text, mood, table):
    # longest phrase that somebody selected in train for the same mood
    hits = [s for s in table[mood] if s and s in text]
    return max(hits, key=lambda s: (table[mood][s], len(s))) if hits and mood != 'neutral' else text
cut = len(tr) * 3 // 4
part = {m: Counter(g.selected_text) for m, g in tr[:cut].groupby('sentiment')}
rest = tr[cut:]
sum(jac(pick(t, m, part), s) for t, m, s in zip(rest.text, rest.sentiment, rest.selected_text)) / len(rest)""",
    ),
    (
        "session",
        """import os
os.makedirs('/home/submission', exist_ok=True)
te['selected_text'] = [pick(t, m, spans) for t, m in zip(te.text, te.sentiment)]
te[['textID', 'selected_text']].to_csv('/home/submission/submission.csv', index=False)
te.head(3)""",
    ),
    ("validate",),
]
CLAIM = "Phrases that were selected in train are looked for in the test tweets; neutral tweets are kept whole."
