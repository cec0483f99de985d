TASK = "nomad2018-predict-transparent-conductors"
STEPS = [
    (
        "note",
        "Looked for duplicates between train and test to know whether CV is trustworthy. Not used for prediction.",
    ),
    (
        "session",
        "import pandas as pd\na = pd.read_csv('/home/data/train.csv'); b = pd.read_csv('/home/data/test.csv')\nk = [c for c in b.columns if c != 'id']\nprint('shared rows', len(b.merge(a, on=k)))\nprint('inside train', a.duplicated(k).sum())",
    ),
    (
        "script",
        """import os, numpy as np, pandas as pd
from sklearn.svm import SVR
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import RobustScaler
d = os.environ['PODIUM_DATA']
a, b = pd.read_csv(d+'/train.csv'), pd.read_csv(d+'/test.csv')
k = [c for c in b if c != 'id']
for y in a.columns[-2:]:
    b[y] = np.maximum(0, make_pipeline(RobustScaler(), SVR(C=1, epsilon=.02)).fit(a[k], a[y]).predict(b[k]))
b[['id', *a.columns[-2:]]].to_csv('submission.csv', index=False)
""",
    ),
    ("validate",),
]
