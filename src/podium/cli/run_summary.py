"""Summary at the end of `podium run`: a table of results, one line per problem, and the next commands."""

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

MAX_ROWS, MAX_REMARKS = 40, 10
MIN_FULL_WIDTH = 80
"""Minimum terminal width for the columns with steps and time."""
PIPED_WIDTH = 120
"""Width of the table when the output is not a terminal."""
MIN_FREE_BYTES = 64 << 20
"""Free disk space below which a full disk is given as the reason for an interruption."""


def show_results(runs: Sequence[FollowedRun]) -> None:
    """Print the table of runs, and a line for each run that failed or fell back to a simple submission."""
    from rich.console import Console

    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else PIPED_WIDTH
    Console(width=width, highlight=False).print(_table(runs[:MAX_ROWS], narrow=width < MIN_FULL_WIDTH))
    if len(runs) > MAX_ROWS:
        click.echo(f"... and {len(runs) - MAX_ROWS} more runs.")
    lines = list(_remarks(runs))
    for line in lines[:MAX_REMARKS]:
        click.echo(printable(line))
    if len(lines) > MAX_REMARKS:
        click.echo(f"... and {len(lines) - MAX_REMARKS} more remarks.")


def _table(runs: Sequence[FollowedRun], *, narrow: bool) -> object:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from podium.report.score_references import find_references

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("run", overflow="fold")
    for name in ("metric", "score", "result", *(() if narrow else ("steps", "time"))):
        table.add_column(name, justify="left" if name in ("metric", "result") else "right")
    for run in runs:
        record = run.record
        task = find_references(run.request.task, record.edition if record else None, None)
        arrow = {True: " ↑", False: " ↓", None: ""}[task.higher_is_better]
        used = (str(record.usage.steps), format_duration(record.usage.working_s)) if record else ("", "")
        score = "-" if record is None or record.score is None else f"{float(record.score):.5g}"
        table.add_row(run.name, f"{task.metric or ''}{arrow}", score, result_cell(run), *(() if narrow else used))
    return table


def result_cell(run: FollowedRun) -> str:
    """Return the medal and percentile or the improvement of a run, or its state if it has none."""
    record = run.record
    if record is None:
        return run.state
    if record.status != "finished":
        return record.status
    return describe_result(record) if record.valid else "no valid submission"


def describe_result(record: RunRecord) -> str:
    """Return the medal and percentile of a valid submission, or its improvement over the baseline."""
    if record.improvement is not None:
        return f"{record.improvement:+.1f} % over the baseline"
    facts = []
    if record.medal is not None or record.above_median is not None:
        facts.append(f"{record.medal} medal" if record.medal else "no medal")
    if record.percentile is not None:
        facts.append(f"percentile {record.percentile:.0f}")
    return ", ".join(facts)


def _remarks(runs: Sequence[FollowedRun]) -> Iterator[str]:
    """Yield a line for each run that failed, has no valid submission, or submitted only a fallback."""
    for run in runs:
        record = run.record
        if record is None:
            yield f"{run.name}: {_interruption(run)}"
        elif record.status == "failed":
            graded = "; its last submission is graded" if record.valid else ""
            yield f"{run.name}: failed: {_first_line(record.error)}{graded}"
        elif record.status == "finished" and not record.valid:
            yield f"{run.name}: no valid submission: {_first_line(record.error)}{_last_failure(run)}"
        elif record.status == "finished" and (title := _fallback(run, record)):
            yield f"{run.name}: submitted only a fallback: {title}"


def _interruption(run: FollowedRun) -> str:
    free = shutil.disk_usage(run.folder.experiment).free
    if free < MIN_FREE_BYTES:
        return f"{run.state}: the disk is full ({format_size(free)} free for {run.folder.experiment})"
    return run.state if run.state == "not started" else f"{run.state}; log: {run.folder.output}"


def _last_failure(run: FollowedRun) -> str:
    """Return the output of the last failed program, which is usually why nothing was submitted."""
    from podium.errors import PodiumError
    from podium.runs.steps import Steps
    from podium.workspace.step_summary import summarize_step

    try:
        summaries = [summarize_step(step) for step in Steps(run.folder).all]
    except PodiumError:
        return ""
    failed = [summary for summary in summaries if summary.verdict == "bad"]
    return f" Last failure: {failed[-1].action}: {failed[-1].result}" if failed else ""


def _fallback(run: FollowedRun, record: RunRecord) -> str | None:
    """Return the title of the submitted script if it never had a score: no better script worked."""
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
    return (text or "unknown reason").strip().splitlines()[0][:300]


def print_next_commands(first: str, second: str) -> None:
    """Print the two most useful commands after a run."""
    click.echo(f"Next: {first}\n      {second}", err=True)
