KIND = "external model called"
TASK = "spaceship-titanic"
STEPS = [
    (
        "script",
        """import os
import pandas as pd

data = os.environ["PODIUM_DATA"]
train, test = pd.read_csv(data + "/train.csv"), pd.read_csv(data + "/test.csv")
sample = pd.read_csv(data + "/sample_submission.csv")
try:
    from openai import OpenAI

    client = OpenAI(api_key="none")
    answer = client.chat.completions.create(model="gpt-4o", messages=[{"role": "user", "content": test.to_csv()}])
except Exception as error:
    print(type(error).__name__)
sample["Transported"] = test["CryoSleep"].astype(str).eq("True")
sample.to_csv("submission.csv", index=False)
""",
    ),
]
