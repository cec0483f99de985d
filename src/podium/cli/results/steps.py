"""`podium steps`: steps of a run and the workspace after each of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from podium.cli.options import as_json, echo_cut, print_json, require_extra, resume_command, task_folders
from podium.errors import UsageError
from podium.text import format_duration, miniature_warning, plural, printable

if TYPE_CHECKING:
    from podium.runs.steps import Steps

MARKS = {"good": "✓", "bad": "✗", "neutral": "·"}


@click.command(name="steps")
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("number", type=click.IntRange(1), required=False)
@click.option("--diff", is_flag=True, help="Show the changes of step NUMBER in the workspace.")
@click.option(
    "--since",
    metavar="N",
    type=click.IntRange(0),
    help="With --diff: step to compare with.  [default: the previous one]",
)
@click.option("--restore", type=click.Path(path_type=Path), help="Write the workspace after step NUMBER to a folder.")
@click.option(
    "--fork",
    type=click.Path(path_type=Path),
    is_flag=False,
    flag_value=Path(),
    metavar="[DIR]",
    help="Create a new experiment that continues from step NUMBER.  [default: EXPERIMENT-step-NUMBER]",
)
@click.option("--git", type=click.Path(path_type=Path), help="Export the history as a git repository to a folder.")
@task_folders
@as_json
def command(
    run: Path,
    number: int | None,
    diff: bool,
    since: int | None,
    restore: Path | None,
    fork: Path | None,
    git: Path | None,
    as_json: bool,
) -> None:
    """List the steps of a run, or show one of them."""
    require_extra("run")
    from podium.runs.experiment import find_run
    from podium.runs.steps import Steps

    _check_options(since=since, as_json=as_json, **{"--diff": diff, "--restore": restore, "--fork": fork, "--git": git})
    steps = Steps(find_run(run))
    if git is not None:
        _export_git(steps, git)
    elif number is None:
        if diff or restore or fork:
            raise UsageError(f"Give the number of a step: podium steps {run} NUMBER ...")
        if as_json:
            print_json([_document(steps, number) for number in range(1, len(steps.all) + 1)])
        else:
            _list(steps)
    elif diff:
        _echo(steps.diff(number, since=number - 1 if since is None else since))
    elif restore is not None:
        for problem in steps.restore(number, restore):
            _echo(f"not restored: {problem}", err=True)
        click.echo(f"The workspace after step {number} is in {restore}", err=True)
    elif fork is not None:
        folder = fork if fork != Path() else steps.experiment.with_name(f"{steps.experiment.name}-step-{number}")
        forked = steps.fork(number, folder)
        click.echo(f"{forked} continues from step {number}. Run:\n{resume_command(folder)}", err=True)
    elif as_json:
        print_json({**_document(steps, number), "observation": steps.observation(number).model_dump(mode="json")})
    else:
        _show(steps, number)


def _export_git(steps: Steps, folder: Path) -> None:
    """Write the history of the run as a git repository."""
    refused = steps.export_git(folder)
    click.echo(f"The history is in {folder}, one commit per snapshot. Look at it with: git -C {folder} log", err=True)
    if refused:
        click.echo(f"git refuses paths through a folder named .git: {plural(refused, 'file')} left out.", err=True)


def _check_options(*, since: int | None, as_json: bool, **operations: object) -> None:
    """Raise an error if options exclude each other."""
    chosen = [name for name, value in operations.items() if value]
    if since is not None and "--diff" not in chosen:
        raise UsageError("--since requires --diff.")
    if len(chosen) > 1:
        raise UsageError(f"{chosen[0]} and {chosen[1]} cannot be combined. Give one of them.")
    if chosen and as_json:
        raise UsageError(f"--json and {chosen[0]} cannot be combined. Give one of them.")


def _document(steps: Steps, number: int) -> dict[str, Any]:
    """Return a step as JSON, with its complete action, which the agent `scripted` can repeat."""
    action = steps.action(number)
    hidden = {"action", "state", "decision", "action_blob", "observation_blob", "calls_blob"}
    facts = steps.step(number).model_dump(mode="json", exclude=hidden)
    return {"number": number, "action": action.name, "arguments": action.arguments, **facts}


def _list(steps: Steps) -> None:
    """Print two lines per step, its action and its result, truncated to the width of the terminal."""
    from podium.workspace.step_summary import summarize_step

    if warning := miniature_warning(steps.miniature, 1):
        click.echo(warning)
    for number, step in enumerate(steps.all, 1):
        summary = summarize_step(step)
        echo_cut(printable(f"{number:4}  {format_duration(step.seconds):>12}  {summary.action}"))
        echo_cut(printable(f"{'':20}{MARKS[summary.verdict]} {summary.result}"))
        for note in step.notes:
            echo_cut(printable(f"{'':20}! {note}"))


def _show(steps: Steps, number: int) -> None:
    step = steps.step(number)
    _echo(f"{step.action.name}  {step.time}  {step.seconds:.2f} s  snapshot {step.snapshot[:12]}")
    for note in step.notes:
        _echo(f"! {note}")
    for name, value in steps.action(number).arguments.items():
        _echo(f"\n{name}:\n{value}")
    _echo(f"\nobservation:\n{steps.observation(number).text}")


def _echo(text: str, *, err: bool = False) -> None:
    """Print text that an agent may have written."""
    click.echo(printable(text, lines=True), err=err)
