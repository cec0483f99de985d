"""Scores as pure functions over arrays, one file per family.

Every metric has the signature `metric(truth, prediction, *, options) -> float`, wrapped as a
`podium.task.Metric` that knows its title and direction. Where a score is undefined (a correlation with a
constant, an AUC of one class) the value is NaN, never an exception; grading reports it.
"""

from podium.metrics.classification import accuracy, f1, f_beta, log_loss, matthews, quadratic_kappa, roc_auc
from podium.metrics.ranking import map_at_k, ndcg_at_k
from podium.metrics.regression import (
    laplace_log_likelihood,
    mae,
    pearson,
    pinball,
    rmse,
    rmsle,
    smape,
    spearman,
)
from podium.metrics.segmentation import dice, mean_iou, rle_dice, rle_mean_iou
from podium.metrics.sets import label_mean_f1, label_micro_f1, word_jaccard
from podium.metrics.text import mean_levenshtein, normalised_levenshtein

__all__ = [
    "accuracy",
    "dice",
    "f1",
    "f_beta",
    "label_mean_f1",
    "label_micro_f1",
    "laplace_log_likelihood",
    "log_loss",
    "mae",
    "map_at_k",
    "matthews",
    "mean_iou",
    "mean_levenshtein",
    "ndcg_at_k",
    "normalised_levenshtein",
    "pearson",
    "pinball",
    "quadratic_kappa",
    "rle_dice",
    "rle_mean_iou",
    "rmse",
    "rmsle",
    "roc_auc",
    "smape",
    "spearman",
    "word_jaccard",
]
