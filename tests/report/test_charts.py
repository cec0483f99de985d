"""Where the page's strip draws a score."""

from __future__ import annotations

import math

import pytest

from podium.report.rendering.plotly_charts import position, unit
from podium.report.score_references import ReferenceScores

UP = ReferenceScores("up", higher_is_better=True, median=0.5, bronze=0.6, silver=0.8, gold=0.9, ceiling=1.0)
DOWN = ReferenceScores("down", higher_is_better=False, median=5.0, bronze=4.0, silver=2.0, gold=1.0)


@pytest.mark.parametrize(
    ("reference", "score", "expected"),
    [
        (UP, 0.5, 1.0),  # the median itself is not above it, but begins its zone
        (UP, 0.55, 1.5),
        (UP, 0.6, 2.0),  # a tie with the last medallist earns the medal
        (UP, 0.7, 2.5),
        (UP, 0.8, 3.0),
        (UP, 0.9, 4.0),
        (UP, 0.95, 4.5),  # halfway to the ceiling
        (UP, 1.2, 5.0),
        (UP, 0.1, 0.5),  # as far below the median as gold is above it
        (DOWN, 5.0, 1.0),
        (DOWN, 3.0, 2.5),
        (DOWN, 1.0, 4.0),
        (DOWN, -3.0, 4.5),  # without a ceiling, as far beyond gold as gold is from the median
        (DOWN, -math.inf, 5.0),
        (DOWN, 9.0, 0.5),
    ],
)
def test_thresholds_of_every_task_have_the_same_position(
    reference: ReferenceScores, score: float, expected: float
) -> None:
    assert position(score, reference) == pytest.approx(expected)


def test_equal_thresholds_skip_a_zone() -> None:
    crowded = ReferenceScores("crowded", higher_is_better=True, median=0.9, bronze=1.0, silver=1.0, gold=1.0)
    assert position(1.0, crowded) == 4.0
    assert position(0.95, crowded) == pytest.approx(1.5)


def test_a_task_without_thresholds_has_no_position() -> None:
    assert position(0.5, ReferenceScores("bare", higher_is_better=True)) is None


@pytest.mark.parametrize(
    ("largest", "words"), [(90.0, "seconds"), (600.0, "minutes"), (86_400.0, "hours"), (0.0, "seconds")]
)
def test_axes_have_units_that_read_well(largest: float, words: str) -> None:
    assert unit("working_s", largest)[1] == f"{words} of working time"
