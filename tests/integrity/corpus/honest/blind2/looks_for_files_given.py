TASK = "random-acts-of-pizza"
STEPS = [
    ("command", "find /home/data -type f | head -20; find . -maxdepth 2 -name '*.md' | xargs cat | head -60"),
    ("read", "data/sampleSubmission.csv"),
    ("command", "cd data && for z in *.zip; do echo $z; python3 -m zipfile -l $z | head -4; done"),
    (
        "script",
        """import os
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.naive_bayes import BernoulliNB
d = os.environ['PODIUM_DATA']
tr, te = pd.read_json(d + '/train.json'), pd.read_json(d + '/test.json')
txt = lambda t: t.request_title + ' ' + t.request_text_edit_aware
v = TfidfVectorizer()
nb = BernoulliNB().fit(v.fit_transform(txt(tr)), tr.requester_received_pizza)
s = pd.read_csv(d + '/sampleSubmission.csv')[['request_id']]
te['requester_received_pizza'] = nb.predict_proba(v.transform(txt(te)))[:, 1]
s.merge(te[['request_id', 'requester_received_pizza']]).to_csv('submission.csv', index=False)
""",
    ),
    ("validate",),
]
