"""The live table of `podium run` on a terminal."""

from __future__ import annotations

import time

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from podium.runs.drive.driver import FollowedRun
from podium.text import format_duration, printable

_STYLES = {"finished": "green", "failed": "red", "interrupted": "yellow", "stopped": "yellow", "queued": "dim"}
_SHOWN = 30
_DRAWN_EVERY_S = 0.1


COLUMNS = ("task", "seed", "step", "best", "time", "tokens", "state", "score")
NARROW_COLUMNS = ("task", "step", "time", "state")
"""What fits a terminal with fewer than 80 columns."""


class LiveTable:
    """Shows runs until its block ends."""

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
        """Shows that a run has changed; of thousands that change every second, what stands in between is left out."""
        if time.monotonic() > self._drawn + _DRAWN_EVERY_S:
            self._drawn = time.monotonic()
            self._live.update(self._table(), refresh=True)

    def say(self, notice: str) -> None:
        """Shows a notice below the table; what is printed beside a table that redraws itself would be overwritten."""
        self._notice = notice
        self._live.update(self._table(), refresh=True)

    def _table(self) -> Table:
        """Runs that are under way first; of the others as many as fit, and a count."""
        table = Table(box=None, header_style="bold", pad_edge=False, caption=self._notice, caption_justify="left")
        for name in self._names:
            table.add_column(name, justify="right" if name in ("seed", "step", "time", "tokens") else "left")
        ordered = sorted(self._runs, key=lambda run: (run.is_over, run.state == "queued"))
        for run in ordered[:_SHOWN]:
            cells = _cells(run)
            # Printable: an agent's headline may hold escape sequences.
            table.add_row(*(Text(printable(cells[name])) for name in self._names), style=_STYLES.get(run.state))
        if len(self._runs) > _SHOWN:
            table.add_row(f"... and {len(self._runs) - _SHOWN} more", style="dim")
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
