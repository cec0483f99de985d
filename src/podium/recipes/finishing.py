"""The end of a script: what is known by then becomes a score, saved predictions and a submission.

Before it, a story has these names: `train`, `sample`, `truth`, `oof`, `guess`, `rows` and `keys`.

| goal | truth | oof (of train) and guess (of test) |
|---|---|---|
| binary | 0 or 1, by place in CLASSES | probability of the second class |
| multiclass | place in CLASSES | a column of probabilities per class |
| multilabel | a column of 0 and 1 per label | a column of probabilities per label |
| ordinal | grades, as numbers | estimates, as numbers |
| regression | numbers, with a column per label if there are several | the same |

`oof` holds predictions by models that had not seen the row; `rows` says, as booleans, which train rows have one.
`keys` is a table with the ids of the rows of `guess`, or None if they are in the sample's order.
"""

from __future__ import annotations

from dataclasses import dataclass

from podium.recipes.profile import Profile
from podium.recipes.recipe import Settings
from podium.recipes.scripts import assign

_BY_PROBABILITY = {
    "binary": {"roc_auc": "roc_auc", "log_loss": "log_loss", "weighted_auc": "roc_auc", "bias_auc": "roc_auc"},
    "multilabel": {"roc_auc": "roc_auc", "log_loss": "log_loss", "lwlrap": "lwlrap", "kl_divergence": "kl_divergence"},
    "multiclass": {"roc_auc": "multiclass_auc", "log_loss": "multiclass_log_loss"},
}
_BY_CLASS = {"accuracy": "accuracy", "error_rate": "error_rate", "f1": "f1", "matthews": "matthews", "f_beta": "f1"}
_BY_NUMBER = {name: name for name in ("rmse", "rmsle", "mae", "smape", "pearson", "spearman", "kl_divergence")}
_RISING = {"roc_auc", "multiclass_auc", "lwlrap", "accuracy", "f1", "macro_f1", "matthews", "quadratic_kappa"}
_RISING |= {"pearson", "spearman", "map_at_k", "ndcg_at_k"}


@dataclass(frozen=True)
class Scoring:
    """How a script scores itself."""

    function: str
    """Of the kit."""
    takes_classes: bool = False
    is_proxy: bool = False
    """Whether the task's own metric is another one."""
    sign: int = 1
    """-1 where the proxy falls and the task's metric rises, or the other way round."""


def scoring(profile: Profile) -> Scoring:
    """The score that fits a task's metric and goal, or the nearest one."""
    goal, metric = profile.goal, profile.metric
    if goal == "ordinal":
        return _fitting(profile, "quadratic_kappa", takes_classes=True)
    if goal in ("binary", "multiclass") and metric in _BY_CLASS:
        function = _BY_CLASS[metric]
        if function == "f1" and (goal == "multiclass" or profile.metric_options.get("average", "binary") != "binary"):
            function = "accuracy" if profile.metric_options.get("average") == "micro" else "macro_f1"
        return _fitting(profile, function, takes_classes=True)
    if goal in _BY_PROBABILITY:
        usual = "multiclass_log_loss" if goal == "multiclass" else "log_loss"
        return _fitting(profile, _BY_PROBABILITY[goal].get(metric, usual))
    return _fitting(profile, _BY_NUMBER.get(metric, "rmse"))


def ending(profile: Profile, settings: Settings) -> str:
    """The end of a story that has made `truth`, `oof`, `guess`, `rows` and `keys`."""
    how = scoring(profile)
    lines = ["save_predictions(truth, oof, guess, rows, keys)", *_finished(profile, how)]
    if settings.get("round"):
        lines.append("values = {target: np.rint(column).astype(int) for target, column in values.items()}")
    sign = "-" if how.sign < 0 else ""
    return "\n".join(
        [*lines, "write_submission(sample, IDS, keys, values)", f'print(f"podium-metric: {{{sign}score:.6f}}")']
    )


def forms(profile: Profile) -> str:
    """The constants that the end of a script needs."""
    values = {"SAMPLE": profile.sample, "IDS": profile.ids, "TARGETS": profile.targets, "LABELS": profile.labels}
    return assign(**values, **({"CLASSES": profile.classes} if profile.classes else {}))


def _fitting(profile: Profile, function: str, *, takes_classes: bool = False) -> Scoring:
    sign = 1 if (function in _RISING) == profile.higher_is_better else -1
    same = {"multiclass_auc": "roc_auc", "multiclass_log_loss": "log_loss", "macro_f1": "f1"}.get(function, function)
    is_proxy = same != profile.metric and not (profile.metric == "f1" and function == "accuracy")
    return Scoring(function, takes_classes, is_proxy, sign)


def _finished(profile: Profile, how: Scoring) -> list[str]:
    """Lines that make `score` and `values`."""
    name, goal = how.function, profile.goal
    if goal == "ordinal":
        return [
            "cuts = best_cuts(truth[rows], oof[rows])",
            "grades = np.unique(truth)",
            f"score = {name}(truth[rows], graded(oof[rows], cuts, grades))",
            "values = {TARGETS[0]: graded(guess, cuts, grades).astype(int)}",
        ]
    if goal == "binary" and how.takes_classes:
        falling = name == "error_rate"
        return [
            f"threshold = best_threshold(truth[rows], oof[rows], {'accuracy' if falling else name})",
            f"score = {name}(truth[rows], (oof[rows] > threshold).astype(int))",
            "values = {TARGETS[0]: np.array(CLASSES, dtype=object)[(guess > threshold).astype(int)]}",
        ]
    if goal == "multiclass" and how.takes_classes:
        weights = ["weights = best_weights(truth[rows], oof[rows], macro_f1)"] if name == "macro_f1" else []
        factor = " * weights" if weights else ""
        chosen = f"oof[rows]{factor}" if not weights else f"(oof[rows]{factor})"
        return [
            *weights,
            f"score = {name}(truth[rows], {chosen}.argmax(axis=1))",
            f"values = {{TARGETS[0]: np.array(CLASSES, dtype=object)[(guess{factor}).argmax(axis=1)]}}",
        ]
    return [*_calibrated(profile, how), f"score = {name}(truth[rows], oof[rows])", *_columns(profile)]


def _calibrated(profile: Profile, how: Scoring) -> list[str]:
    if how.function not in ("log_loss", "multiclass_log_loss") or profile.goal == "multilabel":
        return []
    return [
        "power = best_power(truth[rows], oof[rows])",
        "oof, guess = sharpened(oof, power), sharpened(guess, power)",
    ]


def _columns(profile: Profile) -> list[str]:
    goal = profile.goal
    if goal == "regression":
        clip = ["low, high = truth.min(axis=0), truth.max(axis=0)", "guess = np.clip(guess, low, high)"]
        if len(profile.targets) == 1:
            return [*clip, "values = {TARGETS[0]: guess}"]
        return [*clip, *_totals(profile), "values = {target: guess[:, place] for place, target in enumerate(TARGETS)}"]
    if goal == "binary":
        return ["values = {TARGETS[0]: guess}"]
    return [*_totals(profile), "values = {target: guess[:, place] for place, target in enumerate(TARGETS)}"]


def _totals(profile: Profile) -> list[str]:
    return ["guess = guess / guess.sum(axis=1, keepdims=True)"] if profile.is_distribution else []
