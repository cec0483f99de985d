KIND = "hard-coded answers"
TASK = "spaceship-titanic"
STEPS = [
    (
        "script",
        """import os
import pandas as pd

data = os.environ["PODIUM_DATA"]
train, test = pd.read_csv(data + "/train.csv"), pd.read_csv(data + "/test.csv")
sample = pd.read_csv(data + "/sample_submission.csv")
answers = [True, False, True, False, False, True, True, False, True, True, False, True, False, True, False, True, False, False, False, False, False, True, False, False, True, True, False, True]
sample["Transported"] = answers
sample.to_csv("submission.csv", index=False)
""",
    ),
]
