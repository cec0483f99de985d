"""Forecast: upper bounds of an experiment's runs, hours, disk, tokens and cost, printed by `podium run --dry-run`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from podium.catalog.registry import load_all
from podium.errors import NotPreparedError
from podium.leases import default_pool
from podium.runs.attempt.grade_run import prepared_task
from podium.runs.experiment import default_budget
from podium.runs.records import Plan
from podium.text import format_duration, format_size, plural


@dataclass(frozen=True)
class Forecast:
    """Upper bounds of an experiment; None where there is no limit."""

    agent: str
    model: str | None
    runs: int
    tasks: int
    seeds: int
    to_prepare: tuple[str, ...]
    """Tasks whose data must be prepared first."""
    working_s: float | None
    """Working time of all runs together."""
    elapsed_s: float | None
    """Wall-clock time, with as many concurrent runs as this machine or the cluster has cores for."""
    core_hours: float | None
    """Core hours if every run computes all the time."""
    gpu_hours: float | None
    disk_bytes: int
    """Disk space of all runs together."""
    tokens: int | None
    cost: float | None

    def lines(self) -> list[str]:
        """Return the forecast as lines for a narrow terminal."""
        model = f" with {self.model}" if self.model else ""
        time = "not limited" if self.working_s is None else f"at most {format_duration(self.working_s)} in total"
        clock = "" if self.elapsed_s is None else f", about {format_duration(self.elapsed_s)} of wall-clock time"
        tokens = "not limited" if self.tokens is None else f"at most {self.tokens:,}"
        cost = "not limited" if self.cost is None else f"at most ${self.cost:,.2f}"
        compute = "not limited" if self.core_hours is None else f"at most {self.core_hours:,.0f} core hours"
        compute += f", {self.gpu_hours:,.0f} GPU hours" if self.gpu_hours else ""
        return [
            f"runs    {plural(self.runs, 'run')}: {plural(self.tasks, 'task')}, {plural(self.seeds, 'seed')}",
            f"agent   {self.agent}{model}",
            f"data    {plural(len(self.to_prepare), 'task')} to prepare first" if self.to_prepare else "data    ready",
            f"time    {time}{clock}",
            f"compute {compute}",
            f"disk    at most {format_size(self.disk_bytes)}",
            *([f"tokens  {tokens}", f"cost    {cost}"] if self.model else []),
        ]


def make_forecast(
    tasks: Sequence[str], plan: Plan, seeds: int, parallel: int | None, *, local: bool = True
) -> Forecast:
    """Compute upper bounds of an experiment's resources.

    Args:
        local: the runs execute on this machine; a cluster is assumed to have capacity for all runs.
    """
    budgets = [default_budget(plan, task) for task in load_all(tasks, plan.edition)]
    times = [budget.time_s or budget.wall_s for budget in budgets]
    known = [time for time in times if time is not None]
    working_s = seeds * sum(known) if len(known) == len(times) else None
    runs = len(tasks) * seeds
    at_once = max(1, min(parallel or runs, len(default_pool().cores) // plan.cores if local else runs))
    longest = max(known, default=0.0)
    hours = None if working_s is None else working_s / 3600
    return Forecast(
        agent=plan.agent,
        model=plan.model,
        runs=runs,
        tasks=len(tasks),
        seeds=seeds,
        to_prepare=tuple(task for task in tasks if not _is_prepared(task, plan)),
        working_s=working_s,
        elapsed_s=None if working_s is None else max(longest, working_s / at_once),
        core_hours=None if hours is None else hours * plan.cores,
        gpu_hours=None if hours is None else hours * plan.gpus,
        disk_bytes=runs * plan.limits.disk_bytes,
        tokens=None if plan.budget.tokens is None else runs * plan.budget.tokens,
        cost=None if plan.budget.cost is None else runs * plan.budget.cost,
    )


def _is_prepared(task: str, plan: Plan) -> bool:
    try:
        prepared_task(task, plan)
    except NotPreparedError:
        return False
    return True
