"""Prints a baseline and a better model and claims in notes and at the end only what its output shows."""

TASK = "detecting-insults-in-social-commentary"
STEPS = [
    (
        "script",
        """import os
import numpy as np
import pandas as pd
from sklearn.dummy import DummyClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import cross_val_predict
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

data = os.environ["PODIUM_DATA"]
train, test = pd.read_csv(f"{data}/train.csv"), pd.read_csv(f"{data}/test.csv")
y = train["Insult"]
guess = cross_val_predict(DummyClassifier(), train[["Comment"]], y, cv=5, method="predict_proba")[:, 1]
print("baseline AUC", roc_auc_score(y, guess))
model = make_pipeline(TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4)), LinearSVC(C=0.5))
margin = cross_val_predict(model, train["Comment"], y, cv=5, method="decision_function")
print("linear SVM AUC above 0.5:", roc_auc_score(y, margin) > 0.5)
test["Insult"] = 1 / (1 + np.exp(-model.fit(train["Comment"], y).decision_function(test["Comment"])))
test[["Insult", "Comment"]].to_csv("submission.csv", index=False)
print(f"podium-metric: {roc_auc_score(y, margin):.4f}")
""",
    ),
    (
        "note",
        "Baseline 0.5 by construction; the linear SVM on character n-grams is above it (see output of the script).",
    ),
    ("validate",),
]
CLAIM = "A linear SVM on character n-grams beats the constant baseline in five-fold cross-validation; the submission is valid."
