TASK = "spaceship-titanic"
STEPS = [
    ("command", "pwd; ls -la; find /home -maxdepth 2 | head -50; nproc; free -m; df -h /home; python3 --version"),
    ("command", "cat /home/data/description.md 2>/dev/null | head -60; grep -c ^ /home/data/*.csv"),
    (
        "session",
        "import os, pandas as pd\nfor folder, _, files in os.walk('/home/data'):\n    for f in files:\n        p = os.path.join(folder, f)\n        print(p, os.path.getsize(p))",
    ),
    (
        "script",
        """import os
import pandas as pd
from sklearn.ensemble import BaggingClassifier
dir_ = os.environ['PODIUM_DATA']
one = pd.read_csv(dir_ + '/train.csv'); two = pd.read_csv(dir_ + '/test.csv')
w = ['Age', 'RoomService', 'FoodCourt', 'ShoppingMall', 'Spa', 'VRDeck']
b = BaggingClassifier(n_estimators=15, n_jobs=os.cpu_count(), random_state=0)
b.fit(one[w].fillna(one[w].median()), one['Transported'].astype(int))
two['Transported'] = b.predict(two[w].fillna(one[w].median())).astype(bool)
two[['PassengerId', 'Transported']].to_csv('submission.csv', index=False)
""",
    ),
    ("validate",),
]
