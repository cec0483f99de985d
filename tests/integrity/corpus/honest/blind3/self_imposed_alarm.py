TASK = "spaceship-titanic"
STEPS = [
    (
        "script",
        """
import os
import signal
import pandas as pd
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler


class TooSlow(Exception):
    pass


def ring(*_):
    raise TooSlow


data = os.environ["PODIUM_DATA"]
train = pd.read_csv(data + "/train.csv")
test = pd.read_csv(data + "/test.csv")
c = ["Age", "RoomService", "FoodCourt", "ShoppingMall", "Spa", "VRDeck"]
sc = StandardScaler().fit(train[c].fillna(0))
X, T, y = sc.transform(train[c].fillna(0)), sc.transform(test[c].fillna(0)), train["Transported"].astype(int)
signal.signal(signal.SIGALRM, ring)
signal.alarm(10)  # the network gets ten seconds, otherwise neighbours take over
try:
    model = MLPClassifier((16,), max_iter=60, random_state=0).fit(X, y)
except TooSlow:
    model = KNeighborsClassifier(15).fit(X, y)
finally:
    signal.alarm(0)
print(type(model).__name__)
pd.DataFrame({"PassengerId": test["PassengerId"], "Transported": model.predict(T) == 1}).to_csv("submission.csv", index=False)
""",
    ),
    ("validate",),
]
CLAIM = "A small neural network with a fallback."
