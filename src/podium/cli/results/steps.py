"""`podium steps`: what an agent did, step by step, and what the workspace looked like."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from podium.cli.options import as_json, echo_cut, print_json, require_extra, resume_command, task_folders
from podium.errors import UsageError
from podium.text import format_duration, miniature_warning, printable

if TYPE_CHECKING:
    from podium.runs.steps import Steps

MARKS = {"good": "✓", "bad": "✗", "neutral": "·"}


@click.command(name="steps")
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("number", type=click.IntRange(1), required=False)
@click.option("--diff", is_flag=True, help="Show what step NUMBER changed in the workspace.")
@click.option("--since", type=click.IntRange(0), help="With --diff: since this step.  [default: the one before]")
@click.option("--restore", type=click.Path(path_type=Path), help="Write the workspace after step NUMBER to a folder.")
@click.option(
    "--fork",
    type=click.Path(path_type=Path),
    is_flag=False,
    flag_value=Path(),
    metavar="[DIR]",
    help="Make a new experiment whose run goes on from step NUMBER.  [default: EXPERIMENT-step-NUMBER]",
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
    """List the steps of a run, or show one of them."""
    require_extra("run")
    from podium.runs.experiment import find_run
    from podium.runs.steps import Steps

    _check_options(since=since, as_json=as_json, **{"--diff": diff, "--restore": restore, "--fork": fork})
    steps = Steps(find_run(run))
    if number is None:
        if diff or restore or fork:
            raise UsageError(f"Say which step: podium steps {run} NUMBER ...")
        if as_json:
            print_json([_document(steps, number) for number in range(1, len(steps.all) + 1)])
        else:
            _list(steps)
    elif diff:
        _say(steps.diff(number, since=number - 1 if since is None else since))
    elif restore is not None:
        for problem in steps.restore(number, restore):
            _say(f"not restored: {problem}", err=True)
        click.echo(f"The workspace after step {number} is in {restore}", err=True)
    elif fork is not None:
        folder = fork if fork != Path() else steps.experiment.with_name(f"{steps.experiment.name}-step-{number}")
        place = steps.fork(number, folder)
        click.echo(f"{place} goes on from step {number}. Run:\n{resume_command(folder)}", err=True)
    elif as_json:
        print_json({**_document(steps, number), "observation": steps.observation(number).model_dump(mode="json")})
    else:
        _show(steps, number)


def _check_options(*, since: int | None, as_json: bool, **doings: object) -> None:
    """Refuses options of which one would be ignored."""
    given = [name for name, value in doings.items() if value]
    if since is not None and "--diff" not in given:
        raise UsageError("--since goes with --diff.")
    if len(given) > 1:
        raise UsageError(f"{given[0]} and {given[1]} are two different things: give one of them.")
    if given and as_json:
        raise UsageError(f"--json shows steps, and {given[0]} does something else: give one of them.")


def _document(steps: Steps, number: int) -> dict[str, Any]:
    """A step without what only resuming needs; its action whole, as the agent `scripted` repeats it."""
    action = steps.action(number)
    hidden = {"action", "state", "decision", "action_blob", "observation_blob", "calls_blob"}
    facts = steps.step(number).model_dump(mode="json", exclude=hidden)
    return {"number": number, "action": action.name, "arguments": action.arguments, **facts}


def _list(steps: Steps) -> None:
    """All steps, two lines each: what was done, and what came of it. As wide as the terminal, or whole."""
    from podium.workspace.step_summary import step_in_words

    if warning := miniature_warning(steps.miniature, 1):
        click.echo(warning)
    for number, step in enumerate(steps.all, 1):
        words = step_in_words(step)
        echo_cut(printable(f"{number:4}  {format_duration(step.seconds):>12}  {words.action}"))
        echo_cut(printable(f"{'':20}{MARKS[words.verdict]} {words.result}"))
        for note in step.notes:
            echo_cut(printable(f"{'':20}! {note}"))


def _show(steps: Steps, number: int) -> None:
    step = steps.step(number)
    _say(f"{step.action.name}  {step.time}  {step.seconds:.2f} s  snapshot {step.snapshot[:12]}")
    for note in step.notes:
        _say(f"! {note}")
    for name, value in steps.action(number).arguments.items():
        _say(f"\n{name}:\n{value}")
    _say(f"\nobservation:\n{steps.observation(number).text}")


def _say(text: str, *, err: bool = False) -> None:
    """Prints what an agent may have written."""
    click.echo(printable(text, lines=True), err=err)
