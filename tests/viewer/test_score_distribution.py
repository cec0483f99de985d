"""A leaderboard's distribution is drawn with better to the right, whatever its scores are."""

from __future__ import annotations

import pytest

from podium.task import Leaderboard
from podium.viewer.drawing.score_distribution import WIDTH, RunScore, draw_distribution


def runs(*scores: float) -> list[RunScore]:
    return [RunScore(score, f"{score}", None, "c0") for score in scores]


@pytest.mark.parametrize("lower", [True, False])
def test_better_is_to_the_right_and_zones_follow_each_other(lower: bool) -> None:
    sign = -1 if lower else 1
    board = Leaderboard(lower, scores=tuple(sign * (0.5 + n / 1000) for n in range(300)))
    picture = draw_distribution(board, runs(sign * 0.6, sign * 0.75, sign * 9.0, sign * -9.0))
    assert picture is not None
    worse, better, best, worst = picture.dots
    assert worse.x < better.x < best.x and worst.x <= worse.x
    assert [dot.beyond for dot in picture.dots] == [0, 0, 1, -1]
    assert [zone.name for zone in picture.zones] == ["median", "bronze", "silver", "gold"]
    assert all(zone.x < after.x for zone, after in zip(picture.zones, picture.zones[1:], strict=False))
    assert all(0 <= bar.x <= WIDTH and bar.height > 0 for bar in picture.bars) and len(picture.ticks) > 1


def test_quantiles_are_as_good_as_scores() -> None:
    board = Leaderboard(
        False, quantiles=tuple(1 - n / 40 for n in range(41)), gold=0.9, silver=0.8, bronze=0.7, median=0.5
    )
    picture = draw_distribution(board, [])
    assert picture is not None and len(picture.bars) > 40 and 5 < picture.hidden < 10


@pytest.mark.parametrize("scores", [(), (1.0,), (float("nan"), float("inf"))])
def test_without_scores_there_is_no_picture(scores: tuple[float, ...]) -> None:
    assert draw_distribution(Leaderboard(False, scores=scores), runs(1.0)) is None


@pytest.mark.parametrize("scores", [(0.0,) * 5, (1e300, -1e300), (5e-324, 0.0)])
def test_no_field_is_too_odd(scores: tuple[float, ...]) -> None:
    picture = draw_distribution(Leaderboard(True, scores=scores), runs(0.0, 1e308))
    assert picture is not None and all(0 <= dot.x <= WIDTH for dot in picture.dots)
