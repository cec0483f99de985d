TASK = "leaf-classification"
STEPS = [
    (
        "script",
        """import os, pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
d = os.environ['PODIUM_DATA']
tr = pd.read_csv(d + '/train.csv'); te = pd.read_csv(d + '/test.csv'); ss = pd.read_csv(d + '/sample_submission.csv')
c = te.columns[1:]
sc = StandardScaler().fit(tr[c])
m = LogisticRegression(C=.5, max_iter=200).fit(sc.transform(tr[c]), tr.species)
p = pd.DataFrame(m.predict_proba(sc.transform(te[c])), columns=m.classes_).reindex(columns=ss.columns[1:], fill_value=1e-9)
p.insert(0, 'id', te.id); p.to_csv('submission.csv', index=False)
""",
    ),
    ("validate",),
]
OTHER_RUNS = [
    [
        (
            "script",
            """import os, pandas as pd
from sklearn.ensemble import RandomForestClassifier
root = os.environ['PODIUM_DATA']
train, test, form = [pd.read_csv(f'{root}/{n}.csv') for n in ('train', 'test', 'sample_submission')]
forest = RandomForestClassifier(60, random_state=5).fit(train.drop(columns=['id', 'species']), train['species'])
answer = pd.DataFrame(forest.predict_proba(test.drop(columns='id')), columns=forest.classes_)
answer = answer.reindex(columns=form.columns[1:], fill_value=0.0) * 0.95 + 0.05 / 99
answer.insert(0, 'id', test['id'])
answer.to_csv('submission.csv', index=False)
""",
        ),
        ("validate",),
    ]
]
