"""Metrics: pure functions over arrays, one file per family.

Every metric has the signature `metric(truth, prediction, *, options) -> float`, wrapped as a
`podium.task.Metric` that knows its title and direction. Where a score is undefined (a correlation with a
constant, an AUC of one class) the value is NaN, never an exception; grading reports it.
"""

from podium.metrics.boxes3d import box3d_map
from podium.metrics.classification import (
    accuracy,
    error_rate,
    f1,
    f_beta,
    log_loss,
    matthews,
    quadratic_kappa,
    roc_auc,
)
from podium.metrics.detection import box_map, coco_map, point_f1
from podium.metrics.distributions import kl_divergence
from podium.metrics.edit_distance import mean_levenshtein, normalised_levenshtein
from podium.metrics.fairness import bias_auc
from podium.metrics.medical import probabilistic_f1, weighted_log_loss
from podium.metrics.orderings import kendall_tau
from podium.metrics.partial_auc import weighted_auc
from podium.metrics.ranking import map_at_k, ndcg_at_k
from podium.metrics.regression import (
    group_log_mae,
    laplace_log_likelihood,
    mae,
    pearson,
    pinball,
    rmse,
    rmsle,
    smape,
    spearman,
)
from podium.metrics.segmentation import dice, mean_iou, rle_dice, rle_f_beta, rle_iou_precision, rle_mean_iou
from podium.metrics.sets import label_mean_f1, label_micro_f1, word_jaccard
from podium.metrics.sphere import angular_error, percentile_distance_m
from podium.metrics.surface_distance import dice_hausdorff
from podium.metrics.survival import concordance
from podium.metrics.tagging import lwlrap

__all__ = [
    "accuracy",
    "angular_error",
    "bias_auc",
    "box3d_map",
    "box_map",
    "coco_map",
    "concordance",
    "dice",
    "dice_hausdorff",
    "error_rate",
    "f1",
    "f_beta",
    "group_log_mae",
    "kendall_tau",
    "kl_divergence",
    "label_mean_f1",
    "label_micro_f1",
    "laplace_log_likelihood",
    "log_loss",
    "lwlrap",
    "mae",
    "map_at_k",
    "matthews",
    "mean_iou",
    "mean_levenshtein",
    "ndcg_at_k",
    "normalised_levenshtein",
    "pearson",
    "percentile_distance_m",
    "pinball",
    "point_f1",
    "probabilistic_f1",
    "quadratic_kappa",
    "rle_dice",
    "rle_f_beta",
    "rle_iou_precision",
    "rle_mean_iou",
    "rmse",
    "rmsle",
    "roc_auc",
    "smape",
    "spearman",
    "weighted_auc",
    "weighted_log_loss",
    "word_jaccard",
]
