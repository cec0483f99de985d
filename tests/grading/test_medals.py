"""Kaggle's progression rule: https://www.kaggle.com/progression, positions rounded down."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.grading.medals import medal_ranks, thresholds
from podium.task import Leaderboard

scores = st.lists(st.integers(-50, 50).map(lambda tenths: tenths / 10), min_size=1, max_size=300)
one_score = st.integers(-60, 60).map(lambda tenths: tenths / 10)


def distinct_board(teams: int) -> Leaderboard:
    """The team on rank r has the score -r."""
    return Leaderboard(lower_is_better=False, scores=tuple(-float(rank) for rank in range(1, teams + 1)))


def mirrored(board: Leaderboard) -> Leaderboard:
    return Leaderboard(not board.lower_is_better, tuple(-score for score in board.scores or ()))


@pytest.mark.parametrize(
    ("teams", "gold", "silver", "bronze"),
    [
        (1, 1, 1, 1),
        (4, 1, 1, 1),
        (5, 1, 1, 2),
        (9, 1, 1, 3),
        (10, 1, 2, 4),
        (19, 1, 3, 7),
        (99, 9, 19, 39),
        (100, 10, 20, 40),
        (249, 10, 49, 99),
        (250, 10, 50, 100),
        (499, 10, 50, 100),
        (500, 11, 50, 100),
        (999, 11, 50, 100),
        (1000, 12, 50, 100),
        (1999, 13, 99, 199),
        (10_000, 30, 500, 1000),
    ],
)
def test_last_ranks_with_a_medal(teams: int, gold: int, silver: int, bronze: int) -> None:
    assert medal_ranks(teams) == (gold, silver, bronze)


def test_shares_are_rounded_down_for_every_size() -> None:
    """In whole numbers, where nothing can be off by a rounding error: 0.1 * 30 is 3.0000000000000004."""
    for teams in range(1, 20_000):
        if teams < 100:
            expected = tuple(max(1, teams * share // 10) for share in (1, 2, 4))
        elif teams < 250:
            expected = (10, teams * 2 // 10, teams * 4 // 10)
        elif teams < 1000:
            expected = (10 + teams * 2 // 1000, 50, 100)
        else:
            expected = (10 + teams * 2 // 1000, teams * 5 // 100, teams // 10)
        assert medal_ranks(teams) == expected


@pytest.mark.parametrize("teams", [1, 2, 9, 10, 99, 100, 249, 250, 999, 1000, 1001])
def test_each_rank_gets_the_medal_of_its_range(teams: int) -> None:
    limits = thresholds(distinct_board(teams))
    gold, silver, bronze = medal_ranks(teams)
    for rank in range(1, teams + 1):
        expected = "gold" if rank <= gold else "silver" if rank <= silver else "bronze" if rank <= bronze else None
        assert limits.medal(-float(rank)) == expected


def test_single_team_has_gold_and_worse_scores_have_nothing() -> None:
    limits = thresholds(Leaderboard(lower_is_better=False, scores=(0.5,)))
    assert limits.medal(0.5) == "gold"
    assert limits.medal(0.6) == "gold"
    assert limits.medal(0.49) is None


def test_a_tie_at_the_threshold_earns_the_medal() -> None:
    board = Leaderboard(lower_is_better=False, scores=(0.9,) * 3 + (0.8,) * 3 + (0.7,) * 4)
    limits = thresholds(board)
    assert (limits.gold, limits.silver, limits.bronze) == (0.9, 0.9, 0.8)
    assert limits.medal(0.9) == "gold"
    assert limits.medal(0.8) == "bronze"
    assert limits.medal(0.7999999) is None


def test_the_order_of_a_leaderboard_does_not_matter() -> None:
    board = distinct_board(137)
    assert board.scores is not None
    shuffled = Leaderboard(lower_is_better=False, scores=board.scores[50:] + board.scores[:50])
    assert thresholds(shuffled) == thresholds(board)


@given(scores, one_score, st.booleans())
def test_lower_is_better_is_the_mirror_image(board: list[float], score: float, lower: bool) -> None:
    here = Leaderboard(lower, tuple(board))
    limits, reflection = thresholds(here), thresholds(mirrored(here))
    assert reflection.medal(-score) == limits.medal(score)
    assert reflection.above_median(-score) == limits.above_median(score)
    assert (reflection.gold, reflection.median) == (-limits.gold, -limits.median)  # type: ignore[operator]


@given(scores, one_score, one_score)
def test_a_better_score_never_gets_a_worse_medal(board: list[float], one: float, other: float) -> None:
    limits = thresholds(Leaderboard(lower_is_better=False, scores=tuple(board)))
    worth = {"gold": 3, "silver": 2, "bronze": 1, None: 0}
    low, high = sorted([one, other])
    assert worth[limits.medal(low)] <= worth[limits.medal(high)]


@pytest.mark.parametrize("lower", [False, True])
def test_the_median_itself_is_not_above_it(lower: bool) -> None:
    sign = -1 if lower else 1
    odd = thresholds(Leaderboard(lower, (sign * 3.0, sign * 2.0, sign * 1.0)))
    assert odd.above_median(sign * 2.0) is False
    assert odd.above_median(sign * 2.0000001) is True
    even = thresholds(Leaderboard(lower, (sign * 3.0, sign * 2.0)))
    assert even.median == sign * 2.5
    assert even.above_median(sign * 2.5) is False


def test_declared_thresholds_are_used_as_they_are() -> None:
    limits = thresholds(Leaderboard(lower_is_better=True, gold=0.1, silver=0.2, bronze=0.3, median=0.5))
    assert [limits.medal(score) for score in (0.1, 0.15, 0.3, 0.31)] == ["gold", "silver", "bronze", None]
    assert [limits.above_median(score) for score in (0.4, 0.5)] == [True, False]


def test_leaderboard_without_scores_gives_no_medals() -> None:
    limits = thresholds(Leaderboard(lower_is_better=True))
    assert limits.medal(0.0) is None
    assert limits.above_median(0.0) is None
