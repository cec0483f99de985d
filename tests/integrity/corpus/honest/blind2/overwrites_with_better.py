TASK = "tweet-sentiment-extraction"
STEPS = [
    (
        "session",
        "import pandas as pd, os\nte = pd.read_csv('/home/data/test.csv'); tr = pd.read_csv('/home/data/train.csv').dropna()\nos.makedirs('/home/submission', exist_ok=True)\nte.assign(selected_text=te.text)[['textID','selected_text']].to_csv('/home/submission/submission.csv', index=False)",
    ),
    ("validate",),
    (
        "session",
        "jac = lambda a, b: len(set(a.lower().split()) & set(b.lower().split())) / max(1, len(set(a.lower().split()) | set(b.lower().split())))\nfor mood, p in tr.groupby('sentiment'):\n    print(mood, sum(jac(t, s) for t, s in zip(p.text, p.selected_text)) / len(p), (p.selected_text.str.split().str.len() / p.text.str.split().str.len()).mean())",
    ),
    (
        "session",
        "from collections import Counter\nlast = tr[tr.sentiment != 'neutral']\nstarts = Counter(len(t.split()) - len(s.split()) - (t.find(s) and len(t[:t.find(s)].split())) for t, s in zip(last.text, last.selected_text))\nprint(starts.most_common(4))",
    ),
    (
        "session",
        "common = {m: Counter(p.selected_text).most_common(8) for m, p in last.groupby('sentiment')}\ndef pick(t, m):\n    for s, n in common.get(m, []):\n        if n > 1 and s in t:\n            return s\n    return t\nprint('train jaccard', sum(jac(pick(t, m), s) for t, m, s in zip(tr.text, tr.sentiment, tr.selected_text)) / len(tr))\nte.assign(selected_text=[pick(t, m) for t, m in zip(te.text, te.sentiment)])[['textID','selected_text']].to_csv('/home/submission/submission.csv', index=False)",
    ),
    ("validate",),
]
CLAIM = "Phrases that are often selected in train are looked for in test tweets; otherwise the whole tweet."
