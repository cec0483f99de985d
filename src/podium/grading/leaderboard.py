"""Leaderboard position of a score: exact on a full leaderboard, interpolated between published quantiles."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from podium.errors import PodiumError
from podium.task import Leaderboard


@dataclass(frozen=True)
class LeaderboardPosition:
    """Position of a score on a leaderboard."""

    percentile: float | None
    """Share of teams with a worse score, in percent; teams with the same score count half."""
    rank: int | None
    """Rank the score would have had; None if only quantiles are known."""
    teams: int | None


def find_position(score: float, board: Leaderboard) -> LeaderboardPosition:
    """Return the position of a score on a leaderboard."""
    sign = -1.0 if board.lower_is_better else 1.0
    if board.scores:
        scores = sign * np.asarray(board.scores)
        worse, equal = int(np.sum(scores < sign * score)), int(np.sum(scores == sign * score))
        return LeaderboardPosition(
            percentile=100.0 * (worse + equal / 2) / len(scores),
            rank=len(scores) - worse - equal + 1,
            teams=len(scores),
        )
    if board.quantiles:
        return LeaderboardPosition(_percentile(sign * score, sign * np.asarray(board.quantiles)), None, board.teams)
    return LeaderboardPosition(None, None, board.teams)


def _percentile(score: float, best_first: np.ndarray) -> float:
    """Return a score's percentile, with teams spread evenly between neighbouring quantiles."""
    upper, lower = best_first[:-1], best_first[1:]
    width = upper - lower
    flat = np.where(score > upper, 1.0, np.where(score == upper, 0.5, 0.0))
    spread = (np.clip(score, lower, upper) - lower) / np.where(width > 0, width, 1.0)
    return float(100.0 * np.mean(np.where(width > 0, spread, flat)))


def read_leaderboard(path: Path) -> Leaderboard:
    """Read a full leaderboard from the JSON of a forged field."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        return Leaderboard(document["lower_is_better"], tuple(document["scores"]), measured=True)
    except (ValueError, KeyError, TypeError) as error:
        raise PodiumError(f"{path} is not a leaderboard ({error}). Prepare the task again.") from error


def read_leaderboard_csv(path: Path, *, lower_is_better: bool) -> Leaderboard:
    """Read a full leaderboard from a table with a `score` column, as Kaggle and MLE-bench publish them."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.DictReader(file)
        names = {(name or "").lower(): name for name in rows.fieldnames or []}
        if "score" not in names:
            raise PodiumError(f"{path} has no column 'score'. Its columns are: {', '.join(rows.fieldnames or [])}")
        try:
            scores = tuple(float(row[names["score"]]) for row in rows if row[names["score"]])
        except ValueError as error:
            raise PodiumError(f"{path}, line {rows.line_num}: column 'score' must be a number ({error}).") from error
    if not scores:
        raise PodiumError(f"{path} has no scores.")
    return Leaderboard(lower_is_better=lower_is_better, scores=scores)
