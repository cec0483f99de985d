TASK = "spaceship-titanic"
STEPS = [
    (
        "script",
        '''import os
import sqlite3

import pandas as pd

data = os.environ["PODIUM_DATA"]
db = sqlite3.connect(":memory:")
for name in ("train", "test"):
    t = pd.read_csv(f"{data}/{name}.csv")
    t["CryoSleep"] = t["CryoSleep"].astype(str)
    t["HomePlanet"] = t["HomePlanet"].astype(str)
    if "Transported" in t:
        t["Transported"] = t["Transported"].astype(int)
    t.to_sql(name, db, index=False)
answer = pd.read_sql(
    """
    WITH rate AS (
        SELECT HomePlanet, CryoSleep, AVG(Transported) AS r, COUNT(*) AS n FROM train GROUP BY 1, 2
    )
    SELECT test.PassengerId, COALESCE(rate.r, 0.5) > 0.5 AS Transported
    FROM test LEFT JOIN rate USING (HomePlanet, CryoSleep)
    """,
    db,
)
ids = pd.read_csv(f"{data}/test.csv")["PassengerId"]
answer = answer.set_index("PassengerId").loc[ids].reset_index()
answer["Transported"] = answer["Transported"].astype(bool)
answer.to_csv("submission.csv", index=False)
''',
    ),
    ("validate",),
]
CLAIM = "Average of the label per home planet and sleep, joined to test in SQL."
