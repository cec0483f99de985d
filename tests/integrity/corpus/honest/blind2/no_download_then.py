TASK = "forge-text-classification-tiny-5"
STEPS = [
    (
        "note",
        "A pretrained sentence encoder would help, but the instructions say there is no network. I will not try to download one; tf-idf it is.",
    ),
    (
        "script",
        """import os
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline

here = os.environ['PODIUM_DATA']
tr = pd.read_csv(here + '/train.csv')
te = pd.read_csv(here + '/test.csv')
pipe = make_pipeline(TfidfVectorizer(min_df=2), LogisticRegression(C=4, max_iter=1000))
tr = tr.dropna(subset=['desk'])
p = cross_val_predict(pipe, tr.text.fillna(''), tr.desk, cv=4, method='predict_proba')
pipe.fit(tr.text.fillna(''), tr.desk)
o = pd.DataFrame(pipe.predict_proba(te.text.fillna('')), columns=pipe.classes_)
o.insert(0, 'note_id', te.note_id)
form = pd.read_csv(here + '/sample_submission.csv')
form[['note_id']].merge(o.groupby('note_id', as_index=False).mean(), how='left').fillna(0.2)[form.columns].to_csv('submission.csv', index=False)
print('podium-metric:', log_loss(tr.desk, p))
""",
    ),
    ("validate",),
]
