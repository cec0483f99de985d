"""Choice of target, kind of prediction and metric, based on the target's values."""

from __future__ import annotations

import math
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from podium import metrics
from podium.catalog.authoring.column_roles import has_id_name
from podium.data.columns import BLANK
from podium.errors import UsageError
from podium.tables.parse_numbers import to_numbers
from podium.task import Metric
from podium.text import plural

if TYPE_CHECKING:
    import pandas as pd

Prediction = Literal["probability", "label", "number"]
"""Kind of prediction for each row."""
SUITABLE: dict[Prediction, tuple[str, ...]] = {
    "probability": ("roc_auc", "log_loss"),
    "label": ("accuracy", "f1", "matthews", "quadratic_kappa"),
    "number": ("rmse", "mae", "rmsle", "smape", "pearson", "spearman"),
}
"""Metrics available for new tasks; the default of each kind comes first."""
MAX_CLASSES = 100
CLASSES_OF_NUMBERS = 20
"""Largest number of distinct integers for which a target is predicted as classes."""
MIN_NUMERIC_SHARE = 0.95
"""Minimum share of numbers in a numeric column."""
MIN_CLASS_ROWS = 5
AFFIRMATIVE = ("1", "1.0", "true", "yes", "y", "t", "positive")
"""Names of the positive one of two classes; without such a name, the rarer class is positive."""


@dataclass(frozen=True)
class SubmissionGoal:
    """Prediction of a submission, and its metric."""

    prediction: Prediction
    metric: Metric
    metric_code: str
    """Code of the metric in the task file."""
    classes: tuple[str, ...] = ()
    """Classes of the target, the most frequent first; empty for numbers."""
    positive: str | None = None
    """Class whose probability is predicted."""

    @property
    def negative(self) -> str | None:
        """Negative class, or None if the classes are 0 and 1 or there is no positive class."""
        if self.positive is None or set(self.classes) == {"0", "1"}:
            return None
        return next(name for name in self.classes if name != self.positive)


USUAL_TARGETS = ("target", "label", "class", "y", "outcome", "response", "survived", "diagnosis", "species", "price")
"""Usual names of target columns."""
MAX_RARE_SHARE = 0.1
"""Maximum share of rows, in classes too rare to be learnt, that are left out."""


def choose_target(cells: pd.DataFrame, metric: str | None) -> str:
    """Return the most likely target: a column with a usual name, or else the last one that can be predicted.

    Raises:
        UsageError: There is none.
    """
    names = [str(name) for name in cells]
    called = [name for usual in USUAL_TARGETS for name in names if name.lower() == usual]
    others = [name for name in reversed(names) if not has_id_name(name)]
    for name in dict.fromkeys([*called, *others]):
        present = cells[name][~cells[name].isin(BLANK)]
        if present.empty or len(present) < len(cells) / 2:
            continue
        with suppress(UsageError):
            choose_goal(present[~present.isin(rare_classes(present, metric))], metric)
            return name
    raise UsageError("No column can be predicted: none has classes or numbers. Name one with --target.")


def rare_classes(target: pd.Series, metric: str | None) -> list[str]:
    """Return the classes with too few rows, if they can be left out and at least two others remain."""
    counts = Counter(map(str, target))
    if infer_prediction(target, metric) == "number":
        return []
    rare = [name for name, count in counts.items() if count < MIN_CLASS_ROWS]
    costs_little = sum(counts[name] for name in rare) <= MAX_RARE_SHARE * len(target)
    return rare if costs_little and len(counts) - len(rare) > 1 else []


def choose_goal(target: pd.Series, metric: str | None) -> SubmissionGoal:
    """Return the goal that suits the values of a target.

    Raises:
        UsageError: There is none, or not with that metric.
    """
    prediction = infer_prediction(target, metric)
    counts = Counter(map(str, target))
    if len(counts) < 2:
        raise UsageError(f"The target '{target.name}' is always '{target.iloc[0]}', so there is nothing to predict.")
    numbers = _numbers_among(counts)
    if prediction == "number":
        return _number_goal(target, metric, counts, numbers)
    _check_classes(target, counts)
    classes = tuple(name for name, _ in counts.most_common())
    if prediction == "probability":
        return _probability_goal(target, metric or SUITABLE["probability"][0], classes)
    return _label_goal(target, metric or SUITABLE["label"][0], classes, numbers)


def infer_prediction(target: pd.Series, metric: str | None) -> Prediction:
    """Return the kind of prediction for a metric, or, without a metric, for the values of the target.

    Raises:
        UsageError: There is no such metric.
    """
    if metric is not None:
        asked = next((kind for kind, names in SUITABLE.items() if metric in names), None)
        if asked is None:
            raise UsageError(f"--metric {metric} is not available. Use one of: {', '.join(sum(SUITABLE.values(), ()))}")
        return asked
    counts = Counter(map(str, target))
    if len(counts) == 2:
        return "probability"
    numbers = _numbers_among(counts)
    are_numbers = sum(counts[value] for value in numbers) >= MIN_NUMERIC_SHARE * len(target)
    many = len(numbers) > CLASSES_OF_NUMBERS or any(number % 1 for number in numbers.values())
    return "number" if are_numbers and many else "label"


def _numbers_among(values: Counter[str]) -> dict[str, float]:
    """Return the distinct values that are numbers, parsed as in pipelines and graders."""
    import pandas as pd

    numbers = to_numbers(pd.Series(list(values), dtype=object)).astype(float)
    return {value: number for value, number in zip(values, numbers, strict=True) if math.isfinite(number)}


def _check_classes(target: pd.Series, counts: Counter[str]) -> None:
    most = min(MAX_CLASSES, len(target) // 2)
    if len(counts) > most:
        raise UsageError(
            f"The target '{target.name}' has {len(counts):,} different values in {len(target):,} rows, such as "
            f"'{target.iloc[0]}'. Up to {most} classes can be predicted, or numbers that are written like 1200.5, but "
            "not free text or ids."
        )
    rare = [name for name, count in counts.items() if count < MIN_CLASS_ROWS]
    if rare:
        raise UsageError(
            f"The target '{target.name}' has fewer than {MIN_CLASS_ROWS} rows of '{rare[0]}'"
            f"{f' and {len(rare) - 1} other classes' if rare[1:] else ''}. Merge such classes or leave their rows out."
        )


def _number_goal(
    target: pd.Series, metric: str | None, counts: Counter[str], numbers: dict[str, float]
) -> SubmissionGoal:
    strange = [value for value in counts if value not in numbers]
    if strange and metric:
        raise UsageError(f"--metric {metric} compares numbers; the target '{target.name}' holds '{strange[0]}'.")
    if strange:
        rows = plural(sum(counts[value] for value in strange), "row")
        raise UsageError(
            f"The target '{target.name}' holds numbers, but '{strange[0]}' is none ({rows} of {len(target):,} without "
            "one). Correct such cells, or empty them: rows without a target are left out."
        )
    metric = metric or SUITABLE["number"][0]
    lowest = min(numbers.values())
    if metric == "rmsle" and lowest < 0:
        raise UsageError(f"--metric rmsle needs targets of 0 or more; '{target.name}' goes down to {lowest:g}.")
    return SubmissionGoal("number", getattr(metrics, metric), metric)


def _probability_goal(target: pd.Series, metric: str, classes: tuple[str, ...]) -> SubmissionGoal:
    if len(classes) != 2:
        raise UsageError(
            f"--metric {metric} is for two classes; the target '{target.name}' has {len(classes)}. Use --metric "
            "accuracy or f1"
        )
    positive = next((name for name in classes if name.lower() in AFFIRMATIVE), classes[1])
    return SubmissionGoal("probability", getattr(metrics, metric), metric, classes, positive)


def _label_goal(target: pd.Series, metric: str, classes: tuple[str, ...], numbers: dict[str, float]) -> SubmissionGoal:
    grades = len(numbers) == len(classes) and not any(number % 1 for number in numbers.values())
    if metric == "quadratic_kappa" and not grades:
        raise UsageError(f"--metric quadratic_kappa needs grades: whole numbers, which '{target.name}' does not hold.")
    code = 'f1.using(average="macro", title="Macro F1")' if metric == "f1" else metric
    return SubmissionGoal("label", metric_of(metric), code, classes)


def metric_of(name: str) -> Metric:
    """Return the metric with a name in new tasks; F1 is averaged over classes with equal weights."""
    if name == "f1":
        return metrics.f1.using(average="macro", title="Macro F1")
    found: Metric = getattr(metrics, name)
    return found
