"""The live table of `podium run` on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.live import Live
from rich.table import Table

from podium.runs.driver import FollowedRun
from podium.text import format_duration

_STYLES = {"finished": "green", "failed": "red", "interrupted": "yellow", "stopped": "yellow", "queued": "dim"}
_SHOWN = 30


@contextmanager
def live_table(runs: list[FollowedRun]) -> Iterator[Callable[[FollowedRun], None]]:
    """Shows the runs until the block ends; call what it yields when one of them has changed."""
    with Live(_table(runs), console=Console(stderr=True), auto_refresh=False) as live:
        yield lambda run: live.update(_table(runs), refresh=True)


def _table(runs: list[FollowedRun]) -> Table:
    """Runs that are under way first; of the others as many as fit, and a count."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in ("task", "seed", "step", "best", "time", "tokens", "state", "score"):
        table.add_column(name, justify="right" if name in ("seed", "step", "time", "tokens") else "left")
    ordered = sorted(runs, key=lambda run: (run.is_over, run.state == "queued"))
    for run in ordered[:_SHOWN]:
        table.add_row(*_cells(run), style=_STYLES.get(run.state))
    if len(runs) > _SHOWN:
        table.add_row(f"... and {len(runs) - _SHOWN} more", style="dim")
    return table


def _cells(run: FollowedRun) -> list[str]:
    record, progress = run.record, run.progress
    usage = record.usage if record else progress.usage if progress else None
    score = "" if record is None or record.score is None else f"{float(record.score):.5g} {record.medal or ''}"
    return [
        run.request.task,
        str(run.request.seed),
        str(usage.steps if usage else 0),
        (progress and progress.headline) or "",
        format_duration(usage.working_s if usage else 0.0),
        f"{usage.tokens if usage else 0:,}",
        progress.phase if progress and run.state == "running" else run.state,
        score if record is None or record.valid is not False else "invalid",
    ]
