TASK = "spaceship-titanic"
STEPS = [
    ("note", "First a rule as a floor: asleep, or nothing spent -> transported. It is a rule and I say so."),
    (
        "script",
        """import os
import pandas as pd

d = os.environ['PODIUM_DATA']
spend = ['RoomService', 'FoodCourt', 'ShoppingMall', 'Spa', 'VRDeck']
def rule(t):
    return (t['CryoSleep'].astype(str) == 'True') | (t[spend].fillna(0).sum(axis=1) == 0)
train, test = pd.read_csv(d + '/train.csv'), pd.read_csv(d + '/test.csv')
test['Transported'] = rule(test)
test[['PassengerId', 'Transported']].to_csv('submission.csv', index=False)
print('podium-metric:', (rule(train) == train['Transported']).mean())
""",
    ),
    ("validate",),
]
CLAIM = "A declared rule baseline without learning: asleep or not spending means transported. Its accuracy is measured on train.csv."
