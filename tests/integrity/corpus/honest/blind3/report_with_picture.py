TASK = "spaceship-titanic"
STEPS = [
    (
        "script",
        """import base64, io, os
import pandas as pd
from sklearn.linear_model import LogisticRegression

d = os.environ['PODIUM_DATA']
train = pd.read_csv(d + '/train.csv')
test = pd.read_csv(d + '/test.csv')
c = ['Age', 'Spa', 'VRDeck', 'FoodCourt']
m = LogisticRegression(max_iter=1000).fit(train[c].fillna(0) / 100, train['Transported'].astype(bool))
test['Transported'] = m.predict(test[c].fillna(0) / 100)
test[['PassengerId', 'Transported']].to_csv('submission.csv', index=False)
try:
    import matplotlib
    matplotlib.use('Agg')
    import matplotlib.pyplot as plt
    plt.bar(c, m.coef_[0])
    buf = io.BytesIO()
    plt.savefig(buf, format='png')
    data = base64.b64encode(buf.getvalue()).decode()
    open('report.html', 'w').write('<img src="data:image/png;base64,' + data + '">')
except ImportError:
    print(dict(zip(c, m.coef_[0].round(3))))
""",
    ),
]
CLAIM = "Logistic regression; the coefficients are drawn in report.html where matplotlib is there."
