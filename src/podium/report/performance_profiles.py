"""Performance profiles and the area under them (AUP), as MLGym defines them, across tasks with different metrics."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from podium.report.results import Results
from podium.report.statistics import Numbers

POINTS = 500
PENALTY = 1.05
"""Factor over the worst feasible score that an infeasible one counts as."""

MAX_RATIO = 1e300
"""Maximum ratio to the best score of a solved task; larger numbers overflow."""


@dataclass(frozen=True)
class TaskScores:
    """Scores of one task by method; None for a method without a score."""

    scores: Mapping[str, float | None]
    higher_is_better: bool
    baseline: float | None = None
    """Score that a method must reach to have solved the task."""


@dataclass(frozen=True)
class Profiles:
    """Share of tasks on which each method is within a factor of the best: ρ(τ), τ = log10 of the factor."""

    tau: tuple[float, ...]
    rho: dict[str, tuple[float, ...]]
    area: dict[str, float]
    """AUP by method; higher is better. It depends on the set of methods."""


def profiles(tasks: Sequence[TaskScores]) -> Profiles | None:
    """Return the profiles of all methods over the tasks that at least one solved, or None without such tasks."""
    methods = list(dict.fromkeys(name for task in tasks for name in task.scores))
    found = [ratios for task in tasks if (ratios := _ratios(task)) is not None]
    if not found:
        return None
    worst = max(math.ceil(_penalised(ratios)) for ratios in found)
    tau = np.linspace(0.0, max(math.ceil(10 * math.log10(worst)) / 10, 0.1), POINTS)
    rho = {method: _rho([ratios.get(method) or _penalised(ratios) for ratios in found], tau) for method in methods}
    step = tau[1] - tau[0]
    return Profiles(
        tau=tuple(tau.tolist()),
        rho={method: tuple(values.tolist()) for method, values in rho.items()},
        area={method: float(values[:-1].sum() * step) for method, values in rho.items()},
    )


def _ratios(task: TaskScores) -> dict[str, float] | None:
    """Return the ratio to the best score for each method that solved the task."""
    sign = 1 if task.higher_is_better else -1
    solved = {
        method: score
        for method, score in task.scores.items()
        if score is not None
        and math.isfinite(score)
        and score >= 0
        and (task.baseline is None or sign * score >= sign * task.baseline)
    }
    if not solved:
        return None
    best = max(solved.values()) if task.higher_is_better else min(solved.values())
    pairs = {method: (best, score) if task.higher_is_better else (score, best) for method, score in solved.items()}
    return {
        method: 1.0 if above == below else above / below
        for method, (above, below) in pairs.items()
        if above == below or (below and above / below <= MAX_RATIO)
    }


def _penalised(ratios: Mapping[str, float]) -> float:
    return PENALTY * max(ratios.values())


def _rho(ratios: Sequence[float], tau: Numbers) -> Numbers:
    logs = np.log10(np.asarray(ratios))
    # The best has ratio 1 and must fall on the first point despite rounding.
    return np.asarray((logs[None, :] <= tau[:, None] + 1e-12).mean(axis=1))


def task_scores(results: Sequence[Results], baselines: Mapping[str, float] | None = None) -> list[TaskScores]:
    """Return the tasks that all experiments ran in the same form, with each experiment's best score.

    Args:
        baselines: Scores to beat, by task. If every task has one, the baseline is a method too.
    """
    baselines = baselines or {}
    shared = [task for task in results[0].tasks if all(task in each.tasks for each in results)]
    competing = all(task in baselines for task in shared)
    found = []
    for task in shared:
        rows = [row for each in results for row in each.rows if row.task == task and row.score is not None]
        directions = {row.higher_is_better for row in rows} - {None}
        forms = {(row.edition, row.miniature) for row in rows if row.edition is not None}
        if len(directions) != 1 or len(forms) > 1:  # scores of different editions or miniatures are not comparable
            continue
        higher = bool(directions.pop())
        choose = max if higher else min
        scores: dict[str, float | None] = {
            each.name: choose(
                (row.score for row in rows if row.experiment == each.name and row.score is not None), default=None
            )
            for each in results
        }
        baseline = baselines.get(task)
        found.append(TaskScores({**scores, "baseline": baseline} if competing else scores, higher, baseline))
    return found
