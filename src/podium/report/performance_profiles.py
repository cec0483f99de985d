"""Performance profiles and the area under them (AUP), as MLGym defines them: many agents on many scales at once."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from podium.report.results import Results
from podium.report.statistics import Numbers

POINTS = 500
PENALTY = 1.05
"""What is not feasible counts as this much worse than the worst that is."""

LARGEST = 1e300
"""Whoever is more than this many times worse than the best has not solved the task: larger numbers overflow."""


@dataclass(frozen=True)
class TaskScores:
    """The scores of one task, by method; None for a method without one."""

    scores: Mapping[str, float | None]
    higher_is_better: bool
    baseline: float | None = None
    """A score below which a method does not count as having solved the task."""


@dataclass(frozen=True)
class Profiles:
    """For each method the share of tasks on which it is within a factor of the best: ρ(τ), τ = log10 of the factor."""

    tau: tuple[float, ...]
    rho: dict[str, tuple[float, ...]]
    area: dict[str, float]
    """AUP; higher is better. It depends on who is compared."""


def profiles(tasks: Sequence[TaskScores]) -> Profiles | None:
    """The profiles of all methods over tasks that at least one of them has solved; None if there are none."""
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
    """How many times worse than the best each method is, of those that solved the task."""
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
        if above == below or (below and above / below <= LARGEST)
    }


def _penalised(ratios: Mapping[str, float]) -> float:
    return PENALTY * max(ratios.values())


def _rho(ratios: Sequence[float], tau: Numbers) -> Numbers:
    logs = np.log10(np.asarray(ratios))
    # The best has ratio 1 and belongs to the very first point, whatever the last bits say.
    return np.asarray((logs[None, :] <= tau[:, None] + 1e-12).mean(axis=1))


def task_scores(results: Sequence[Results], baselines: Mapping[str, float] | None = None) -> list[TaskScores]:
    """The tasks that all experiments have in the same form, each with the best score of every experiment.

    Args:
        baselines: the scores to beat, by task. Where every task has one, the baseline competes too.
    """
    baselines = baselines or {}
    shared = [task for task in results[0].tasks if all(task in each.tasks for each in results)]
    competing = all(task in baselines for task in shared)
    found = []
    for task in shared:
        rows = [row for each in results for row in each.rows if row.task == task and row.score is not None]
        directions = {row.higher_is_better for row in rows} - {None}
        forms = {(row.edition, row.miniature) for row in rows if row.edition is not None}
        if len(directions) != 1 or len(forms) > 1:  # scores of two editions, or of a miniature, are not on one scale
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
