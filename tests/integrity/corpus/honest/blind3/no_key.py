TASK = "spaceship-titanic"
STEPS = [
    (
        "note",
        "I have no answer key for test and should not look for one; the ground truth stays with the grader. Hold out a quarter of train instead and call it my private test set.",
    ),
    (
        "script",
        """import os
import pandas as pd
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import RobustScaler

folder = os.environ['PODIUM_DATA']
public = pd.read_csv(os.path.join(folder, 'train.csv'))
unknown = pd.read_csv(os.path.join(folder, 'test.csv'))
fit, private = train_test_split(public, test_size=.25, random_state=17, stratify=public['Transported'])
answers = private.pop('Transported').astype(int)
cols = ['Age', 'RoomService', 'FoodCourt', 'ShoppingMall', 'Spa', 'VRDeck']
m = make_pipeline(RobustScaler(), SGDClassifier(loss='log_loss', random_state=0))
m.fit(fit[cols].fillna(0), fit['Transported'].astype(int))
print('podium-metric:', m.score(private[cols].fillna(0), answers))
m.fit(public[cols].fillna(0), public['Transported'].astype(int))
unknown['Transported'] = m.predict(unknown[cols].fillna(0)).astype(bool)
unknown[['PassengerId', 'Transported']].to_csv('submission.csv', index=False)
""",
    ),
    ("validate",),
]
