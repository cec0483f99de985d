"""End of a script: from predictions to a score, saved predictions and a submission.

It uses the names `train`, `sample`, `truth`, `oof`, `prediction`, `rows` and `keys`.

| goal | truth | oof (of train) and prediction (of test) |
|---|---|---|
| binary | index in CLASSES | probability of the second class |
| multiclass | index in CLASSES | a column of probabilities per class |
| multilabel | a column of 0 and 1 per label | a column of probabilities per label |
| ordinal | grades, as numbers | estimates, as numbers |
| regression | numbers, with a column per label if there are several | the same, or a column per quantile |

`oof` has out-of-fold predictions, by models that were not fitted on the row; `rows` is a mask of the train rows with
such predictions. `keys` is a table with the ids of the rows of `prediction`, or None if they are in the sample's order.
"""

from __future__ import annotations

from dataclasses import dataclass

from podium.recipes.recipe import Settings
from podium.recipes.script_writer import assign
from podium.tables.profile import Profile

_BY_PROBABILITY = {
    "binary": {"roc_auc": "roc_auc", "log_loss": "log_loss", "weighted_auc": "roc_auc", "bias_auc": "roc_auc"},
    "multilabel": {"roc_auc": "roc_auc", "log_loss": "log_loss", "lwlrap": "lwlrap", "kl_divergence": "kl_divergence"},
    "multiclass": {"roc_auc": "multiclass_auc", "log_loss": "multiclass_log_loss"},
}
_BY_CLASS = {"accuracy": "accuracy", "error_rate": "error_rate", "f1": "f1", "matthews": "matthews", "f_beta": "f1"}
_BY_NUMBER = {
    name: name for name in ("rmse", "rmsle", "mae", "smape", "pearson", "spearman", "kl_divergence", "concordance")
}
_RISING = {"roc_auc", "multiclass_auc", "lwlrap", "accuracy", "f1", "macro_f1", "matthews", "quadratic_kappa"}
_RISING |= {"pearson", "spearman", "map_at_k", "ndcg_at_k", "concordance"}


VALIDATION = "podium-validation:"
"""Marker of the line that describes the validation rows, if these may differ between scripts."""


@dataclass(frozen=True)
class Scoring:
    """Validation metric of a script."""

    function: str
    """Name of a score function of the kit."""
    takes_classes: bool = False
    is_proxy: bool = False
    """True if it differs from the task's metric."""
    sign: int = 1
    """-1 if the task's metric has the opposite direction."""


def scoring(profile: Profile) -> Scoring:
    """Return the score for a task's metric and goal, or the closest proxy."""
    goal, metric = profile.goal, profile.metric
    if profile.is_listed:
        return Scoring("listed_f1", takes_classes=True, is_proxy=metric != "label_mean_f1")
    if profile.levels:
        return Scoring("pinball")
    if goal == "ordinal":
        return _scoring(profile, "quadratic_kappa", takes_classes=True)
    if goal in ("binary", "multiclass") and metric in _BY_CLASS:
        function = _BY_CLASS[metric]
        if function == "f1" and (goal == "multiclass" or profile.metric_options.get("average", "binary") != "binary"):
            function = "accuracy" if profile.metric_options.get("average") == "micro" else "macro_f1"
        return _scoring(profile, function, takes_classes=True)
    if goal in _BY_PROBABILITY:
        usual = "multiclass_log_loss" if goal == "multiclass" else "log_loss"
        return _scoring(profile, _BY_PROBABILITY[goal].get(metric, usual))
    return _scoring(profile, _BY_NUMBER.get(metric, "rmse"))


def ending(profile: Profile, settings: Settings) -> str:
    """Return the end of a body, after `truth`, `oof`, `prediction`, `rows` and `keys` were computed."""
    how = scoring(profile)
    quantiles = "oof, prediction = shifted_by_errors(truth, oof, prediction, rows, LEVELS)"
    lines = ["if oof.ndim == 1:", f"    {quantiles}"] if profile.levels else []
    if profile.is_wide:  # train may lack the class of a target
        lines.append("oof, prediction = (pad_classes(part, np.arange(len(CLASSES))) for part in (oof, prediction))")
    lines += ["save_predictions(truth, oof, prediction, rows, keys)", *_decide(profile, how)]
    if settings.get("round"):
        lines.append("values = {target: np.rint(column).astype(int) for target, column in values.items()}")
    sign = "-" if how.sign < 0 else ""
    lines.append("write_submission(sample, IDS, keys, values)")
    if profile.time is not None:
        lines.append(f'print(f"{VALIDATION} {{rows.sum()}} of {{len(rows)}} train rows")')
    return "\n".join([*lines, f'print(f"podium-metric: {{{sign}score:.6f}}")'])


def loss_source(profile: Profile) -> str:
    """Return source of the loss of a blend: the metric itself, or a smooth substitute if the metric takes classes."""
    how = scoring(profile)
    if profile.levels:
        return "pinball(truth, oof, LEVELS)"
    if not how.takes_classes:
        rises = (how.sign > 0) == profile.higher_is_better
        return f"{'-' if rises else ''}{how.function}(truth, oof)"
    if profile.goal == "ordinal":
        return "rmse(truth, oof)"
    return f"{'multiclass_log_loss' if profile.goal == 'multiclass' else 'log_loss'}(truth, oof)"


def model_loss_source(profile: Profile) -> str:
    """Return source of the loss of models of one column of the target (see `shared_source.target_source`)."""
    if profile.goal == "multilabel":
        return "-roc_auc(truth, oof)" if profile.metric == "roc_auc" else "log_loss(truth, oof)"
    if profile.levels:
        return "mae(truth, oof)"
    is_share = profile.goal == "regression" and profile.is_distribution
    return "rmse(truth, oof)" if is_share or profile.is_survival else loss_source(profile)


def output_constants(profile: Profile) -> str:
    """Return the constants that the end of a body uses."""
    values = {"SAMPLE": profile.sample, "IDS": profile.ids, "TARGETS": profile.targets, "LABELS": profile.labels}
    further = {"CLASSES": profile.classes, "LEVELS": profile.levels}
    return assign(**values, **{name: value for name, value in further.items() if value})


def _scoring(profile: Profile, function: str, *, takes_classes: bool = False) -> Scoring:
    sign = 1 if (function in _RISING) == profile.higher_is_better else -1
    same = {"multiclass_auc": "roc_auc", "multiclass_log_loss": "log_loss", "macro_f1": "f1"}.get(function, function)
    is_proxy = same != profile.metric and not (profile.metric == "f1" and function == "accuracy")
    return Scoring(function, takes_classes, is_proxy, sign)


def _decide(profile: Profile, how: Scoring) -> list[str]:
    """Return lines that compute `score` and `values`."""
    name, goal = how.function, profile.goal
    if profile.is_listed:
        return [
            "cut = best_list_cut(truth[rows], oof[rows])",
            "score = listed_f1(truth[rows], named_labels(truth, oof[rows], cut))",
            'values = {TARGETS[0]: [" ".join(np.array(CLASSES)[row]) for row in named_labels(truth, prediction, cut)]}',
        ]
    if profile.levels:
        return [
            "score = pinball(truth[rows], oof[rows], LEVELS)",
            "values = {target: prediction[:, index] for index, target in enumerate(TARGETS)}",
        ]
    if goal == "ordinal":
        return [
            "cuts = best_cuts(truth[rows], oof[rows])",
            "grades = np.unique(truth[rows])",
            f"score = {name}(truth[rows], to_grades(oof[rows], cuts, grades))",
            "values = {TARGETS[0]: to_grades(prediction, cuts, grades).astype(int)}",
        ]
    if goal == "binary" and how.takes_classes:
        falling = name == "error_rate"
        return [
            f"threshold = best_threshold(truth[rows], oof[rows], {'accuracy' if falling else name})",
            f"score = {name}(truth[rows], (oof[rows] > threshold).astype(int))",
            "values = {TARGETS[0]: np.array(CLASSES, dtype=object)[(prediction > threshold).astype(int)]}",
        ]
    if goal == "multiclass" and how.takes_classes:
        weights = ["weights = best_class_weights(truth[rows], oof[rows], macro_f1)"] if name == "macro_f1" else []
        factor = " * weights" if weights else ""
        chosen = f"oof[rows]{factor}" if not weights else f"(oof[rows]{factor})"
        return [
            *weights,
            f"score = {name}(truth[rows], {chosen}.argmax(axis=1))",
            f"values = {{TARGETS[0]: np.array(CLASSES, dtype=object)[(prediction{factor}).argmax(axis=1)]}}",
        ]
    return [*_calibrate(profile, how), f"score = {name}(truth[rows], oof[rows])", *_target_values(profile)]


def _calibrate(profile: Profile, how: Scoring) -> list[str]:
    if how.function not in ("log_loss", "multiclass_log_loss") or profile.goal == "multilabel":
        return []
    return [
        "power = best_power(truth[rows], oof[rows])",
        "oof, prediction = scale_probabilities(oof, power), scale_probabilities(prediction, power)",
    ]


def _target_values(profile: Profile) -> list[str]:
    is_number = profile.goal == "regression"
    clip = ["low, high = truth.min(axis=0), truth.max(axis=0)", "prediction = np.clip(prediction, low, high)"]
    if profile.time is not None:  # a series may rise further, but does not fall below 0 if it never did
        clip = ["prediction = np.maximum(prediction, np.minimum(truth.min(axis=0), 0))"]
    lines = clip if is_number and not profile.is_survival else []
    if profile.goal == "binary" or (is_number and len(profile.targets) == 1):
        return [*lines, "values = {TARGETS[0]: prediction}"]
    if profile.is_distribution:
        lines = [*lines, "prediction = prediction / prediction.sum(axis=1, keepdims=True)"]
    return [*lines, "values = {target: prediction[:, index] for index, target in enumerate(TARGETS)}"]
