"""Live table of `podium run` on a terminal."""

from __future__ import annotations

import time

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from podium.runs.drive.driver import FollowedRun
from podium.text import format_duration, printable

_STYLES = {"finished": "green", "failed": "red", "interrupted": "yellow", "stopped": "yellow", "queued": "dim"}
_MAX_ROWS = 30
_MIN_REDRAW_INTERVAL_S = 0.1


COLUMNS = ("task", "seed", "step", "best", "time", "tokens", "state", "score")
NARROW_COLUMNS = ("task", "step", "time", "state")
"""Columns of the table on a terminal with fewer than 80 columns."""


class LiveTable:
    """Table of all runs, redrawn until its block ends."""

    def __init__(self, runs: list[FollowedRun]) -> None:
        self._runs, self._notice, self._drawn = runs, "", 0.0
        console = Console(stderr=True)
        self._names = COLUMNS if console.width >= 80 else NARROW_COLUMNS
        self._live = Live(self._table(), console=console, auto_refresh=False)

    def __enter__(self) -> LiveTable:
        self._live.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.update(self._table(), refresh=True)
        self._live.__exit__(None, None, None)

    def changed(self, run: FollowedRun) -> None:
        """Redraw the table after a change of a run, at most ten times per second."""
        if time.monotonic() > self._drawn + _MIN_REDRAW_INTERVAL_S:
            self._drawn = time.monotonic()
            self._live.update(self._table(), refresh=True)

    def say(self, notice: str) -> None:
        """Show a notice below the table, which would overwrite text printed directly."""
        self._notice = notice
        self._live.update(self._table(), refresh=True)

    def _table(self) -> Table:
        """Return the table: active runs first, then queued and ended ones, cut off at `_MAX_ROWS`."""
        table = Table(box=None, header_style="bold", pad_edge=False, caption=self._notice, caption_justify="left")
        for name in self._names:
            table.add_column(name, justify="right" if name in ("seed", "step", "time", "tokens") else "left")
        ordered = sorted(self._runs, key=lambda run: (run.is_over, run.state == "queued"))
        for run in ordered[:_MAX_ROWS]:
            cells = _cells(run)
            # Printable: an agent's headline may hold escape sequences.
            table.add_row(*(Text(printable(cells[name])) for name in self._names), style=_STYLES.get(run.state))
        if len(self._runs) > _MAX_ROWS:
            table.add_row(f"... and {len(self._runs) - _MAX_ROWS} more", style="dim")
        return table


def _cells(run: FollowedRun) -> dict[str, str]:
    record, progress = run.record, run.progress
    usage = record.usage if record else progress.usage if progress else None
    score = "" if record is None or record.score is None else f"{float(record.score):.5g} {record.medal or ''}"
    return {
        "task": printable(run.request.task),
        "seed": str(run.request.seed),
        "step": str(usage.steps if usage else 0),
        "best": printable((progress and progress.headline) or ""),
        "time": format_duration(usage.working_s if usage else 0.0),
        "tokens": f"{usage.tokens if usage else 0:,}",
        "state": printable(progress.phase if progress and run.state == "running" else run.state),
        "score": score if record is None or record.valid is not False else "invalid",
    }
