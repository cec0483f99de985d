"""What `podium run` prints when it is done: a table, what went wrong in a line each, and what to do next."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from podium.text import format_duration, format_size, printable

if TYPE_CHECKING:
    from podium.runs.drive.driver import FollowedRun
    from podium.runs.records import RunRecord

MOST_ROWS, MOST_LINES = 40, 10
NARROW = 80
"""On a terminal with fewer columns the table has no steps and no time."""
PIPED = 120
FULL = 64 << 20
"""A disk with less than this is why a run was interrupted."""


def show_results(runs: Sequence[FollowedRun]) -> None:
    """Prints the table of runs, what was only a fallback, and why runs have no valid submission."""
    from rich.console import Console

    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else PIPED
    Console(width=width, highlight=False).print(_table(runs[:MOST_ROWS], narrow=width < NARROW))
    if len(runs) > MOST_ROWS:
        click.echo(f"... and {len(runs) - MOST_ROWS} more runs.")
    lines = list(_remarks(runs))
    for line in lines[:MOST_LINES]:
        click.echo(printable(line))
    if len(lines) > MOST_LINES:
        click.echo(f"... and {len(lines) - MOST_LINES} more.")


def _table(runs: Sequence[FollowedRun], *, narrow: bool) -> object:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from podium.report.score_references import find_references

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("run", overflow="fold")
    for name in ("metric", "score", "worth", *(() if narrow else ("steps", "time"))):
        table.add_column(name, justify="left" if name in ("metric", "worth") else "right")
    for run in runs:
        record = run.record
        task = find_references(run.request.task, record.edition if record else None, None)
        arrow = {True: " ↑", False: " ↓", None: ""}[task.higher_is_better]
        used = (str(record.usage.steps), format_duration(record.usage.working_s)) if record else ("", "")
        score = "-" if record is None or record.score is None else f"{float(record.score):.5g}"
        table.add_row(run.name, f"{task.metric or ''}{arrow}", score, worth(run), *(() if narrow else used))
    return table


def worth(run: FollowedRun) -> str:
    """What became of a run: its place beside the leaderboard or the starter code, or why it has none."""
    record = run.record
    if record is None:
        return run.state
    if record.status != "finished":
        return record.status
    return place_of(record) if record.valid else "no valid submission"


def place_of(record: RunRecord) -> str:
    """Where a valid submission stands beside the leaderboard or the starter code."""
    if record.improvement is not None:
        return f"{record.improvement:+.1f} % over the baseline"
    place = [] if record.percentile is None else [f"percentile {record.percentile:.0f}"]
    if record.medal is not None or record.above_median is not None:
        place.insert(0, f"{record.medal} medal" if record.medal else "no medal")
    return ", ".join(place)


def _remarks(runs: Sequence[FollowedRun]) -> Iterator[str]:
    """A line for each run that failed, submitted nothing valid, or nothing better than a fallback."""
    for run in runs:
        record = run.record
        if record is None:
            yield f"{run.name}: {_interruption(run)}"
        elif record.status == "failed":
            kept = "; what it had submitted is graded" if record.valid else ""
            yield f"{run.name}: failed: {_first_line(record.error)}{kept}"
        elif record.status == "finished" and not record.valid:
            yield f"{run.name}: no valid submission: {_first_line(record.error)}{_last_failure(run)}"
        elif record.status == "finished" and (title := _fallback(run, record)):
            yield f"{run.name}: only a fallback was submitted: {title}"


def _interruption(run: FollowedRun) -> str:
    free = shutil.disk_usage(run.folder.experiment).free
    if free < FULL:
        return f"{run.state}: the disk is full ({format_size(free)} free for {run.folder.experiment})"
    return f"{run.state}" if run.state == "not started" else f"{run.state}; its log: {run.folder.output}"


def _last_failure(run: FollowedRun) -> str:
    """What the last program that failed said: most often the reason why nothing was submitted."""
    from podium.errors import PodiumError
    from podium.runs.steps import Steps
    from podium.workspace.step_summary import step_in_words

    try:
        words = [step_in_words(step) for step in Steps(run.folder).all]
    except PodiumError:
        return ""
    failed = [each for each in words if each.verdict == "bad"]
    return f" Last failure: {failed[-1].action}: {failed[-1].result}" if failed else ""


def _fallback(run: FollowedRun, record: RunRecord) -> str | None:
    """The title of the submitted script, if that script never had a score: nothing better worked."""
    from podium.errors import PodiumError
    from podium.runs.steps import Steps
    from podium.workspace.journal.observations import ScriptResult
    from podium.workspace.step_summary import script_title

    if not record.usage.executions:
        return None
    try:
        steps = Steps(run.folder).all
    except PodiumError:
        return None
    submitted = [step.action.arguments.get("number") for step in steps if step.action.name == "submit_script"]
    for step in reversed(steps):
        if submitted and step.action.name == "try_script" and step.action.arguments.get("number") == submitted[-1]:
            unscored = isinstance(step.observation, ScriptResult) and step.observation.metric is None
            return script_title(str(step.action.arguments.get("script", ""))) if unscored else None
    return None


def _first_line(text: str | None) -> str:
    return (text or "for an unknown reason").strip().splitlines()[0][:300]


def tell_next(first: str, second: str) -> None:
    """The two commands that are of most use now."""
    click.echo(f"Next: {first}\n      {second}", err=True)
