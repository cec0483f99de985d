"""Predicts the course of Parkinson's disease from nothing but the month of a visit: a random forest per rating."""

import numpy as np
import pandas as pd
from public_timeseries_testing_util import MockApi
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import make_scorer
from sklearn.model_selection import GroupKFold, cross_val_score

TARGETS = ["updrs_1", "updrs_2", "updrs_3", "updrs_4"]
WAITS = [0, 6, 12, 24]


def smape_plus_1(truth: np.ndarray, prediction: np.ndarray) -> float:
    """The symmetric error in percent, of ratings plus one; ratings that are missing do not count."""
    truth, prediction = np.ravel(truth).astype(float), np.ravel(prediction).astype(float)
    known = ~np.isnan(truth)
    truth, prediction = truth[known], prediction[known]
    if np.any(truth < 0) or np.any(prediction < 0):
        raise ValueError("Ratings are never negative.")
    return float(100 * np.mean(np.abs(prediction - truth) / ((truth + prediction) / 2 + 1)))


def examples(clinical: pd.DataFrame, target: str) -> pd.DataFrame:
    """A row per visit that has this rating now and 6, 12 and 24 months later: the month and the four ratings."""
    ratings = clinical.dropna(subset=[target]).set_index(["patient_id", "visit_month"])[target]
    rows = []
    for patient, month in ratings.index:
        later = [ratings.get((patient, month + wait)) for wait in WAITS]
        if None not in later:
            rows.append([patient, month, *later])
    return pd.DataFrame(rows, columns=["patient_id", "visit_month", *WAITS])


clinical = pd.read_csv("data/train_clinical_data.csv")

models = {}
all_scores = []
for target in TARGETS:
    known = examples(clinical, target)
    X, y = known[["visit_month"]].to_numpy(), known[WAITS].to_numpy()
    folds = GroupKFold(n_splits=8)
    scores = cross_val_score(
        RandomForestRegressor(), X, y, cv=folds, groups=known["patient_id"], scoring=make_scorer(smape_plus_1)
    )
    print(f"{target}: SMAPE+1 of the folds {np.round(scores, 2)}")
    all_scores.append(scores)
    models[target] = RandomForestRegressor().fit(X, y)
print(f"Mean SMAPE+1: {np.mean(all_scores):.3f}")

api = MockApi()
for test, _peptides, _proteins, sample in api.iter_test():
    month = int(test["visit_month"].iloc[0])
    ratings = {}
    for target, model in models.items():
        for wait, rating in zip(WAITS, np.round(model.predict([[month]])[0]), strict=True):
            ratings[f"{target}_plus_{wait}_months"] = rating
    # prediction_id is patient_month_updrs_1_plus_6_months
    sample["rating"] = sample["prediction_id"].str.split("_", n=2).str[2].map(ratings)
    api.predict(sample)
