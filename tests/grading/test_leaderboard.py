from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.errors import PodiumError
from podium.grading.leaderboard import LeaderboardPosition, find_position, read_leaderboard, read_leaderboard_csv
from podium.grading.medals import thresholds
from podium.task import Leaderboard

STEPS = 40

tenths = st.integers(-50, 50).map(lambda tenth: tenth / 10)
numbers = st.floats(-1e6, 1e6, allow_subnormal=False)
boards = st.lists(tenths, min_size=1, max_size=300) | st.lists(numbers, min_size=1, max_size=50)


def summary(board: list[float], *, lower: bool) -> Leaderboard:
    """What is left of a full leaderboard in `leaderboards.json`."""
    sign = 1 if lower else -1
    quantiles = sign * np.quantile(sign * np.asarray(board), np.linspace(0, 1, STEPS + 1))
    limits = thresholds(Leaderboard(lower, tuple(board)))
    return Leaderboard(
        lower,
        teams=len(board),
        gold=limits.gold,
        silver=limits.silver,
        bronze=limits.bronze,
        median=limits.median,
        quantiles=tuple(quantiles),
    )


def test_percentile_counts_ties_half() -> None:
    board = Leaderboard(lower_is_better=False, scores=(0.9, 0.8, 0.8, 0.1))
    assert find_position(0.8, board) == LeaderboardPosition(percentile=50.0, rank=2, teams=4)
    assert find_position(0.85, board) == LeaderboardPosition(percentile=75.0, rank=2, teams=4)


@pytest.mark.parametrize(("score", "percentile", "rank"), [(2.0, 100.0, 1), (-1.0, 0.0, 4), (1.0, 250 / 3, 1)])
def test_ends_of_the_board(score: float, percentile: float, rank: int) -> None:
    board = Leaderboard(lower_is_better=False, scores=(1.0, 0.5, 0.0))
    assert find_position(score, board) == LeaderboardPosition(pytest.approx(percentile), rank, 3)  # type: ignore[arg-type]


@given(boards, tenths, st.booleans())
def test_lower_is_better_is_the_mirror_image(board: list[float], score: float, lower: bool) -> None:
    reflection = tuple(-entry for entry in board)
    mirrored = find_position(-score, Leaderboard(not lower, reflection))
    assert find_position(score, Leaderboard(lower, tuple(board))) == mirrored
    here, there = summary(board, lower=lower), summary(list(reflection), lower=not lower)
    assert find_position(score, here).percentile == pytest.approx(find_position(-score, there).percentile)


@given(boards, st.data())
def test_a_summary_ranks_like_the_full_board(board: list[float], data: st.DataObject) -> None:
    lower = data.draw(st.booleans())
    score = data.draw(tenths | numbers | st.sampled_from(board))
    full, short = Leaderboard(lower, tuple(board)), summary(board, lower=lower)
    exact, guess = find_position(score, full), find_position(score, short)
    assert guess.rank is None
    assert guess.teams == exact.teams
    assert guess.percentile == pytest.approx(exact.percentile, abs=100 / STEPS + 100 / len(board))
    assert thresholds(short) == thresholds(full)


@given(boards, tenths, tenths)
def test_better_score_never_ranks_lower(board: list[float], one: float, other: float) -> None:
    low, high = sorted([one, other])
    for each in (Leaderboard(False, tuple(board)), summary(board, lower=False)):
        worse, better = find_position(low, each).percentile, find_position(high, each).percentile
        assert worse is not None
        assert better is not None
        assert worse <= better + 1e-9


def test_a_board_of_equals_is_left_behind_whole_or_not_at_all() -> None:
    board = Leaderboard(lower_is_better=False, teams=100, quantiles=(0.5,) * 41)
    assert [find_position(score, board).percentile for score in (0.6, 0.5, 0.4)] == [100.0, 50.0, 0.0]


def test_an_absurd_score_has_a_place_too() -> None:
    board = Leaderboard(lower_is_better=True, teams=3, quantiles=(0.1, 0.1001, 0.2))
    assert [find_position(score, board).percentile for score in (1e308, -1e308)] == [0.0, 100.0]


def test_thresholds_alone_tell_no_place() -> None:
    board = Leaderboard(lower_is_better=False, teams=7, gold=0.9)
    assert find_position(1.0, board) == LeaderboardPosition(percentile=None, rank=None, teams=7)


@pytest.mark.parametrize("text", ["", "{", "[1, 2]", "{}", '{"lower_is_better": true}', '{"scores": 3}', "\0"])
def test_damaged_field_is_explained(tmp_path: Path, text: str) -> None:
    path = tmp_path / "leaderboard.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(PodiumError, match=r"leaderboard\.json is not a leaderboard .* Prepare the task again"):
        read_leaderboard(path)


@pytest.mark.parametrize("header", ["score", "Score", "\ufeffteamName,score", "TeamId,SCORE,date"])
def test_published_tables_are_read_by_their_score_column(tmp_path: Path, header: str) -> None:
    path = tmp_path / "board.csv"
    place = header.lower().removeprefix("\ufeff").split(",").index("score")
    rows = [["x"] * place + [score] + ["x"] * header.count(",") for score in ("0.5", "", "0.25")]
    path.write_text("\n".join([header, *(",".join(row) for row in rows)]), encoding="utf-8")
    assert read_leaderboard_csv(path, lower_is_better=True) == Leaderboard(True, (0.5, 0.25))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("team,points\na,1\n", "has no column 'score'. Its columns are: team, points"),
        ("", "has no column 'score'"),
        ("team,score\n", "has no scores"),
        ("team,score\na,0.5\nb,none\n", "line 3: column 'score' must be a number"),
    ],
)
def test_a_table_without_scores_is_explained(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "board.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(PodiumError, match=message):
        read_leaderboard_csv(path, lower_is_better=False)
