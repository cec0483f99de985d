"""What grading says: a score, a medal and a rank, or a message that says what to fix."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from typing import Any

from podium.task import Edition, Medal

DECIMALS = 5
"""As MLE-bench reports scores."""


@dataclass(frozen=True)
class Validation:
    """Whether a submission has the right form; needs no answers."""

    task: str
    valid: bool
    error: str | None = None
    miniature: bool = False
    """Whether it was compared with a fabricated miniature."""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Grade:
    """What a submission is worth. An invalid one has no score but an error that says what to fix."""

    task: str
    edition: Edition
    valid: bool
    error: str | None = None
    score: float | None = None
    score_rounded: float | None = None
    interval: tuple[float, float] | None = None
    """Where the score lies, 95 times of 100, if it was measured often enough to say."""
    higher_is_better: bool | None = None
    medal: Medal | None = None
    above_median: bool | None = None
    percentile: float | None = None
    rank: int | None = None
    teams: int | None = None
    field: bool | None = None
    """Whether it is ranked among the simulated entrants of a measured field, not among people."""
    improvement: float | None = None
    """Percent by which a research task's baseline was improved."""
    success: bool | None = None
    """Whether that is more than success asks for, and not within noise."""
    beyond_noise: bool | None = None
    """Whether it is more than noise explains; None where that is not known."""
    miniature: bool = False
    """Whether the data was a fabricated miniature, which makes the medal meaningless."""

    def to_dict(self) -> dict[str, Any]:
        """The grade as plain JSON: an infinite score is the text "-Infinity" or "Infinity"."""
        return {name: plain(value) for name, value in asdict(self).items()}


def plain(value: Any) -> Any:
    """The value, or its name where it is a number that JSON does not have; `float` reads the name back."""
    return json.dumps(value) if isinstance(value, float) and not math.isfinite(value) else value
