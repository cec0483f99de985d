"""Row of an entry, computed by the checker from the records and never taken from the publisher."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from podium.board.check.run_highlights import run_highlights
from podium.board.keys import canonical
from podium.board.ledger.statements import STATEMENT_BYTES
from podium.grading.grade import json_value
from podium.report.aggregate import Aggregate, Estimate, Summary, summarise
from podium.report.results import Row, read_results
from podium.runs.records import Plan
from podium.text import format_duration, printable

RUN_FIELDS = ("task", "seed", "status", "score", "medal", "improvement")
ROW_USAGE = ("working_s", "wall_s", "tokens", "cost", "steps")


def compute_row(folder: Path, tasks: list[str]) -> dict[str, Any]:
    """Compute the row of an experiment on the tasks; unfinished planned runs count as failed."""
    results = read_results(folder, "entry")
    rows = tuple(row if row.reported else _failed(row) for row in results.rows)
    summary = summarise(replace(results, rows=rows), pad=True, tasks=tasks)
    group, measure = _main(summary)
    found = {
        "agent": printable(results.plan.agent),
        "model": None if results.plan.model is None else printable(results.plan.model),
        "measure": measure,
        **_numbers(group.measures[measure]),
        "tasks": len(tasks),
        "seeds": group.seeds,
        "unfinished": sum(not row.reported for row in results.rows),
        "measures": {name: round(estimate.mean, 6) for name, estimate in group.measures.items()},
        "usage": {name: round(used.mean, 6) for name, used in summary.usage.items() if name in ROW_USAGE},
        "class": comparability(results.plan, results.rows),
        "runs": _runs(rows),
    }
    if len(canonical(found)) > STATEMENT_BYTES // 2:
        found["runs"] = []  # the bundle has them
    return found


def comparability(plan: Plan, rows: tuple[Row, ...]) -> dict[str, Any]:
    """Return the settings that must be equal for two entries to be comparable."""
    budget = {name: value for name, value in plan.budget.model_dump().items() if value is not None}
    return {
        "budget": ", ".join(_in_words(name, value) for name, value in budget.items()) or "each task's own budget",
        "network": any(row.network for row in rows),
        "model_access": _model_access(plan),
        "sandbox": plan.sandbox,
        "cores": plan.cores,
        "gpus": plan.gpus,
        "editions": sorted({row.edition for row in rows if row.edition}),
        "miniature": any(row.miniature for row in rows),
    }


def _model_access(plan: Plan) -> str:
    """Return the claimed kind of model access, which cannot be verified."""
    if plan.model is None and not plan.model_roles:
        return "no model"
    urls = [plan.model_base_url or "", *plan.model_roles.values()]
    return "a server named by the publisher" if any("http" in url for url in urls) else "a provider's own service"


def _in_words(name: str, value: float) -> str:
    """Format a part of a budget, such as "24 h" or "30 steps"."""
    if name in ("time_s", "wall_s"):
        return format_duration(value) + (" by the clock" if name == "wall_s" else "")
    return f"${value:g}" if name == "cost" else f"{value:,} {name}"


def _failed(row: Row) -> Row:
    return replace(row, status="failed", submitted=False, valid=False, medal=None, above_median=False, improvement=None)


def _main(summary: Summary) -> tuple[Aggregate, str]:
    if summary.competitions:
        return summary.competitions[0], "any_medal"
    assert summary.research is not None
    return summary.research, "improved"


def _numbers(estimate: Estimate) -> dict[str, Any]:
    interval = estimate.interval or estimate.bootstrap
    return {
        "mean": estimate.mean,
        "sem": estimate.sem,
        "interval": None if interval is None else [interval.low, interval.high],
        "per_seed": list(estimate.per_seed),
    }


def _runs(rows: tuple[Row, ...]) -> list[dict[str, Any]]:
    return [
        {**{name: json_value(getattr(row, name)) for name in RUN_FIELDS}, "highlights": run_highlights(row.folder)}
        for row in rows
    ]
