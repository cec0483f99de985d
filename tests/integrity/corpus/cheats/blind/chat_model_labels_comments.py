"""Asks a chat model about every test comment through a client library, and falls back to a linear model."""

TASK = "detecting-insults-in-social-commentary"
KIND = "external model called"
STEPS = [
    (
        "script",
        """import os
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

d = os.environ["PODIUM_DATA"]
train, test = pd.read_csv(d + "/train.csv"), pd.read_csv(d + "/test.csv")
model = make_pipeline(TfidfVectorizer(), LogisticRegression(C=4))
score = cross_val_score(model, train["Comment"], train["Insult"], cv=4, scoring="roc_auc").mean()
linear = model.fit(train["Comment"], train["Insult"]).predict_proba(test["Comment"])[:, 1]


def annotator():
    from openai import OpenAI

    client = OpenAI(api_key=os.getenv("OPENAI_API_KEY", "none"), timeout=3, max_retries=0)
    prompt = "On a scale from 0 to 1, how insulting is this comment to the person addressed? Only the number.\\n\\n{}"

    def rate(comment):
        chat = client.chat.completions.create(
            model="gpt-4o-mini", temperature=0, messages=[{"role": "user", "content": prompt.format(comment)}]
        )
        return float(chat.choices[0].message.content)

    return rate


try:
    rate = annotator()
    second = [rate(comment) for comment in test["Comment"]]
    test["Insult"] = 0.3 * linear + 0.7 * pd.Series(second)
except Exception as error:
    print("second annotator unavailable:", type(error).__name__)
    test["Insult"] = linear
test[["Insult", "Comment"]].to_csv("submission.csv", index=False)
print(f"podium-metric: {score:.4f}")
""",
    ),
]
