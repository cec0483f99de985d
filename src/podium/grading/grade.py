"""Results of grading: score, medal and rank of a submission, or the reason why it is invalid."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from typing import Any

from podium.task import Edition, Medal

DECIMALS = 5
"""Decimals of reported scores, as in MLE-bench."""


@dataclass(frozen=True)
class Validation:
    """Result of validating a submission's form, which needs no answers."""

    task: str
    valid: bool
    error: str | None = None
    miniature: bool = False
    """True if it was compared with a fabricated miniature."""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Grade:
    """Grade of a submission. An invalid submission has no score, but an error that explains what to fix."""

    task: str
    edition: Edition
    valid: bool
    error: str | None = None
    score: float | None = None
    score_rounded: float | None = None
    interval: tuple[float, float] | None = None
    """95 % interval of the score, or None if it was measured too few times."""
    higher_is_better: bool | None = None
    medal: Medal | None = None
    above_median: bool | None = None
    percentile: float | None = None
    rank: int | None = None
    teams: int | None = None
    field: bool | None = None
    """True if it is ranked among the simulated entrants of a measured field, not among people."""
    improvement: float | None = None
    """Improvement over a research task's baseline, in percent."""
    success: bool | None = None
    """True if the improvement exceeds the task's threshold and is not within noise."""
    beyond_noise: bool | None = None
    """True if the improvement exceeds the noise of repeated runs; None if the noise is unknown."""
    miniature: bool = False
    """True if the data was a fabricated miniature, which makes the medal meaningless."""

    def to_dict(self) -> dict[str, Any]:
        """Return the grade as JSON values: an infinite score is the text "-Infinity" or "Infinity"."""
        return {name: json_value(value) for name, value in asdict(self).items()}


def json_value(value: Any) -> Any:
    """Return the value, or its name (which `float` parses) if it is a number that JSON cannot represent."""
    return json.dumps(value) if isinstance(value, float) and not math.isfinite(value) else value
