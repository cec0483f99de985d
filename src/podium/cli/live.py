"""The live table of `podium run` on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.live import Live
from rich.table import Table

from podium.runs.driver import Row
from podium.text import format_duration

_STYLES = {"finished": "green", "failed": "red", "interrupted": "yellow", "stopped": "yellow", "queued": "dim"}


@contextmanager
def live_table(rows: list[Row]) -> Iterator[Callable[[Row], None]]:
    """Shows the rows until the block ends; call what it yields when one of them has changed."""
    with Live(_table(rows), console=Console(stderr=True), auto_refresh=False) as live:
        yield lambda row: live.update(_table(rows), refresh=True)


def _table(rows: list[Row]) -> Table:
    """Runs that are under way first; of the others as many as fit, and a count."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in ("task", "seed", "step", "best", "time", "tokens", "state", "score"):
        table.add_column(name, justify="right" if name in ("seed", "step", "time", "tokens") else "left")
    ordered = sorted(rows, key=lambda row: (row.record is not None, row.phase == "queued"))
    for row in ordered[:30]:
        style = _STYLES.get(row.phase)
        table.add_row(*_cells(row), style=style)
    if len(rows) > 30:
        table.add_row(f"... and {len(rows) - 30} more", style="dim")
    return table


def _cells(row: Row) -> list[str]:
    record = row.record
    used = row.used
    score = "" if record is None or record.score is None else f"{record.score:.5g} {record.medal or ''}"
    return [
        row.task,
        str(row.seed),
        str(row.step or used.get("steps", 0)),
        row.headline or "",
        format_duration(used.get("working_s", 0.0)),
        f"{used.get('tokens', 0):,}",
        row.phase,
        score if record is None or record.valid is not False else "invalid",
    ]
