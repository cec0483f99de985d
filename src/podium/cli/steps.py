"""`podium steps`: what an agent did, step by step, and what the workspace looked like."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from podium.cli.options import as_json, print_json, require_extra, task_folders
from podium.errors import UsageError


@click.command(name="steps")
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("number", type=click.IntRange(1), required=False)
@click.option("--diff", is_flag=True, help="Show what step NUMBER changed in the workspace.")
@click.option("--since", type=click.IntRange(0), help="With --diff: since this step.  [default: the one before]")
@click.option("--restore", type=click.Path(path_type=Path), help="Write the workspace after step NUMBER to a folder.")
@click.option(
    "--fork",
    type=click.Path(path_type=Path),
    help="Make a new experiment in this folder whose run goes on from step NUMBER; start it with podium run.",
)
@task_folders
@as_json
def command(
    run: Path,
    number: int | None,
    diff: bool,
    since: int | None,
    restore: Path | None,
    fork: Path | None,
    as_json: bool,
) -> None:
    """List the steps of a RUN, or show step NUMBER."""
    require_extra("run")
    from podium.runs.experiment import find_run
    from podium.runs.steps import Steps

    steps = Steps(find_run(run))
    if number is None:
        if diff or restore or fork:
            raise UsageError("Say which step: podium steps RUN NUMBER ...")
        if as_json:
            print_json([steps.facts(line) for line in steps.lines])
        else:
            _list(steps.lines)
    elif diff:
        click.echo(steps.diff(number, since=number - 1 if since is None else since))
    elif restore is not None:
        for problem in steps.restore(number, restore):
            click.echo(f"not restored: {problem}", err=True)
        click.echo(f"The workspace after step {number} is in {restore}", err=True)
    elif fork is not None:
        folder = steps.fork(number, fork)
        click.echo(f"{folder} goes on from step {number}. Run: {steps.continuation(fork)}", err=True)
    elif as_json:
        print_json({**steps.line(number), "observation": steps.observation(number)})
    else:
        _show(steps.line(number), steps.observation(number))


def _list(lines: list[dict[str, Any]]) -> None:
    for number, line in enumerate(lines, 1):
        arguments = json.dumps(line["arguments"], ensure_ascii=False)
        short = arguments if len(arguments) <= 70 else f"{arguments[:69]}…"
        click.echo(f"{number:4}  {line['time'][11:19]}  {line['seconds']:8.2f} s  {line['action']}  {short}")


def _show(line: dict[str, Any], observation: str) -> None:
    click.echo(f"{line['action']}  {line['time']}  {line['seconds']:.2f} s  snapshot {line['snapshot'][:12]}")
    for name, value in line["arguments"].items():
        click.echo(f"\n{name}:\n{value}")
    click.echo(f"\nobservation:\n{observation}")
