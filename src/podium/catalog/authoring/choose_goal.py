"""What is predicted, and the metric that measures it, chosen by what the target holds."""

from __future__ import annotations

import math
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from podium import metrics
from podium.catalog.authoring.column_roles import is_called_id
from podium.data.columns import BLANK
from podium.errors import UsageError
from podium.tables.parse_numbers import to_numbers
from podium.task import Metric
from podium.text import plural

if TYPE_CHECKING:
    import pandas as pd

Prediction = Literal["probability", "label", "number"]
"""What is submitted for each row."""
SUITABLE: dict[Prediction, tuple[str, ...]] = {
    "probability": ("roc_auc", "log_loss"),
    "label": ("accuracy", "f1", "matthews", "quadratic_kappa"),
    "number": ("rmse", "mae", "rmsle", "smape", "pearson", "spearman"),
}
"""The metrics a new task can have; each kind's default comes first."""
MOST_CLASSES = 100
CLASSES_OF_NUMBERS = 20
"""A target of whole numbers with more distinct values is predicted as a number."""
MOSTLY = 0.95
"""The share of cells that are numbers where a column is meant to hold them."""
FEWEST_OF_CLASS = 5
AFFIRMATIVE = ("1", "1.0", "true", "yes", "y", "t", "positive")
"""Of two classes, the one whose probability is predicted; the rarer one where neither is called so."""


@dataclass(frozen=True)
class SubmissionGoal:
    """What a submission predicts and how that is scored."""

    prediction: Prediction
    metric: Metric
    metric_code: str
    """The metric as the task file writes it."""
    classes: tuple[str, ...] = ()
    """The values of the target, the most frequent first, where it is not a number."""
    positive: str | None = None
    """The class whose probability is predicted."""

    @property
    def negative(self) -> str | None:
        """The other one of two classes, where they were called otherwise than 1 and 0."""
        if self.positive is None or set(self.classes) == {"0", "1"}:
            return None
        return next(name for name in self.classes if name != self.positive)


USUAL_TARGETS = ("target", "label", "class", "y", "outcome", "response", "survived", "diagnosis", "species", "price")
"""Names of columns that are mostly there to be predicted."""
MOST_RARE = 0.1
"""The share of rows, in classes too rare to be learnt, that may be left out."""


def choose_target(cells: pd.DataFrame, metric: str | None) -> str:
    """The column that is most likely to be predicted: one that is called so, or else the last that can be.

    Raises:
        UsageError: there is none.
    """
    names = [str(name) for name in cells]
    called = [name for usual in USUAL_TARGETS for name in names if name.lower() == usual]
    others = [name for name in reversed(names) if not is_called_id(name)]
    for name in dict.fromkeys([*called, *others]):
        present = cells[name][~cells[name].isin(BLANK)]
        if present.empty or len(present) < len(cells) / 2:
            continue
        with suppress(UsageError):
            choose_goal(present[~present.isin(rare_classes(present, metric))], metric)
            return name
    raise UsageError("No column can be predicted: none holds classes or numbers. Name one with --target.")


def rare_classes(target: pd.Series, metric: str | None) -> list[str]:
    """The classes that have too few rows, where leaving them out costs little and others remain to be told apart."""
    counts = Counter(map(str, target))
    if predicted(target, metric) == "number":
        return []
    rare = [name for name, count in counts.items() if count < FEWEST_OF_CLASS]
    costs_little = sum(counts[name] for name in rare) <= MOST_RARE * len(target)
    return rare if costs_little and len(counts) - len(rare) > 1 else []


def choose_goal(target: pd.Series, metric: str | None) -> SubmissionGoal:
    """The goal that suits the values of a target.

    Raises:
        UsageError: none does, or not with that metric.
    """
    prediction = predicted(target, metric)
    counts = Counter(map(str, target))
    if len(counts) < 2:
        raise UsageError(f"The target '{target.name}' is always '{target.iloc[0]}': there is nothing to predict.")
    numbers = _numbers_among(counts)
    if prediction == "number":
        return _number_goal(target, metric, counts, numbers)
    _check_classes(target, counts)
    classes = tuple(name for name, _ in counts.most_common())
    if prediction == "probability":
        return _probability_goal(target, metric or SUITABLE["probability"][0], classes)
    return _label_goal(target, metric or SUITABLE["label"][0], classes, numbers)


def predicted(target: pd.Series, metric: str | None) -> Prediction:
    """What is predicted of a target by that metric, or, without one, what suits its values.

    Raises:
        UsageError: there is no such metric.
    """
    if metric is not None:
        asked = next((kind for kind, names in SUITABLE.items() if metric in names), None)
        if asked is None:
            raise UsageError(f"--metric {metric}: use one of {', '.join(sum(SUITABLE.values(), ()))}")
        return asked
    counts = Counter(map(str, target))
    if len(counts) == 2:
        return "probability"
    numbers = _numbers_among(counts)
    are_numbers = sum(counts[value] for value in numbers) >= MOSTLY * len(target)
    many = len(numbers) > CLASSES_OF_NUMBERS or any(number % 1 for number in numbers.values())
    return "number" if are_numbers and many else "label"


def _numbers_among(values: Counter[str]) -> dict[str, float]:
    """Those of the distinct values that are numbers, as pipelines and graders will read them."""
    import pandas as pd

    numbers = to_numbers(pd.Series(list(values), dtype=object)).astype(float)
    return {value: number for value, number in zip(values, numbers, strict=True) if math.isfinite(number)}


def _check_classes(target: pd.Series, counts: Counter[str]) -> None:
    most = min(MOST_CLASSES, len(target) // 2)
    if len(counts) > most:
        raise UsageError(
            f"The target '{target.name}' has {len(counts):,} different values in {len(target):,} rows, such as "
            f"'{target.iloc[0]}'. Up to {most} classes can be predicted, or numbers that are written like 1200.5, but "
            "not free text or ids."
        )
    rare = [name for name, count in counts.items() if count < FEWEST_OF_CLASS]
    if rare:
        raise UsageError(
            f"The target '{target.name}' has fewer than {FEWEST_OF_CLASS} rows of '{rare[0]}'"
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
    """The metric that a name stands for in new tasks: F1 is that of all classes, each of the same weight."""
    if name == "f1":
        return metrics.f1.using(average="macro", title="Macro F1")
    found: Metric = getattr(metrics, name)
    return found
