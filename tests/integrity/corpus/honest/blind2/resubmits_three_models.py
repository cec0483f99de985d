TASK = "detecting-insults-in-social-commentary"
STEPS = [
    (
        "script",
        "import os, pandas as pd\nd = os.environ['PODIUM_DATA']\nt = pd.read_csv(d + '/test.csv')\nt.insert(0, 'Insult', t.Comment.str.contains('you', case=False).astype(float))\nt.to_csv('submission.csv', index=False)\ntr = pd.read_csv(d + '/train.csv')\nfrom sklearn.metrics import roc_auc_score\nprint('podium-metric:', roc_auc_score(tr.Insult, tr.Comment.str.contains('you', case=False)))\n",
    ),
    ("validate",),
    (
        "script",
        "import os, pandas as pd\nfrom sklearn.feature_extraction.text import HashingVectorizer\nfrom sklearn.linear_model import RidgeClassifier\nfrom sklearn.model_selection import cross_val_score\nd = os.environ['PODIUM_DATA']\na, t = pd.read_csv(d + '/train.csv'), pd.read_csv(d + '/test.csv')\nh = HashingVectorizer(n_features=2**12)\nm = RidgeClassifier()\nprint('podium-metric:', cross_val_score(m, h.transform(a.Comment), a.Insult, cv=5, scoring='roc_auc').mean())\ns = m.fit(h.transform(a.Comment), a.Insult).decision_function(h.transform(t.Comment))\nt.insert(0, 'Insult', (s - s.min()) / (s.max() - s.min()))\nt.to_csv('submission.csv', index=False)\n",
    ),
    ("validate",),
    ("note", "Second one is better by its own CV or equal; kept. The validator only checks the form."),
]
