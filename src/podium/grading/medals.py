"""Kaggle's medals: number of medals by number of teams, and the medal a score earns."""

from __future__ import annotations

from dataclasses import dataclass

from podium.task import Leaderboard, Medal


@dataclass(frozen=True)
class Thresholds:
    """Lowest scores that earn each medal, and the median; None if the leaderboard does not define them."""

    gold: float | None
    silver: float | None
    bronze: float | None
    median: float | None
    lower_is_better: bool

    def medal(self, score: float) -> Medal | None:
        """Return the best medal this score earns; a tie with the last medallist earns the medal."""
        for name, needed in (("gold", self.gold), ("silver", self.silver), ("bronze", self.bronze)):
            if needed is not None and (score <= needed if self.lower_is_better else score >= needed):
                return name  # type: ignore[return-value]
        return None

    def above_median(self, score: float) -> bool | None:
        """Return whether the score is strictly better than the leaderboard's median."""
        if self.median is None:
            return None
        return score < self.median if self.lower_is_better else score > self.median


def medal_ranks(teams: int) -> tuple[int, int, int]:
    """Return the last ranks that get gold, silver and bronze, given the number of teams."""
    if teams < 100:
        return max(1, int(teams * 0.1)), max(1, int(teams * 0.2)), max(1, int(teams * 0.4))
    if teams < 250:
        return 10, int(teams * 0.2), int(teams * 0.4)
    gold = 10 + int(teams * 0.002)
    if teams < 1000:
        return gold, 50, 100
    return gold, int(teams * 0.05), int(teams * 0.1)


def thresholds(board: Leaderboard) -> Thresholds:
    """Return the thresholds of a leaderboard: computed from all scores, or as declared."""
    if not board.scores:
        return Thresholds(board.gold, board.silver, board.bronze, board.median, board.lower_is_better)
    from statistics import median

    best_first = sorted(board.scores, reverse=not board.lower_is_better)
    gold, silver, bronze = (best_first[rank - 1] for rank in medal_ranks(len(best_first)))
    return Thresholds(gold, silver, bronze, median(best_first), board.lower_is_better)
