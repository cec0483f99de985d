TASK = "playground-series-s3e18"
STEPS = [
    (
        "script",
        """# scaler and PCA see train and test features together (no labels): transductive, mentioned in the report
import os, numpy as np, pandas as pd
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import QuantileTransformer
d = os.environ['PODIUM_DATA']
tr = pd.read_csv(d+'/train.csv'); te = pd.read_csv(d+'/test.csv')
c = te.columns[1:]
both = np.vstack([tr[c], te[c]])
Z = PCA(8, random_state=0).fit_transform(QuantileTransformer(n_quantiles=100, output_distribution='normal').fit_transform(both))
A, B = Z[:len(tr)], Z[len(tr):]
for t in ['EC1', 'EC2']:
    te[t] = LogisticRegression().fit(A, tr[t]).predict_proba(B)[:, 1]
te[['id', 'EC1', 'EC2']].to_csv('submission.csv', index=False)
""",
    ),
    ("validate",),
]
CLAIM = "Transductive PCA (features of both sets), then logistic regression. No score was measured."
