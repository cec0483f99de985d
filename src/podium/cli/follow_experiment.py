"""What `podium run`, `podium resume` and `podium baseline` share: carrying an experiment out in front of a person."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from podium.cli.options import Decorated, key_file, pairs, print_json, require_extra, resume_command
from podium.cli.run_summary import place_of, show_results, tell_next
from podium.errors import PodiumError, UsageError
from podium.text import miniature_warning, plural, printable

if TYPE_CHECKING:
    from podium.runs.drive.driver import Changed, Driver, FollowedRun
    from podium.runs.drive.executors import Executor
    from podium.runs.experiment import Experiment

STOPPING = "Stopping when the current steps are done; Ctrl-C again stops at once. Nothing is lost."


def executor_options(command: Decorated) -> Decorated:
    """The options that say who carries runs out."""
    for option in (
        click.option("--on", default="local", show_default=True, help="Who carries runs out: NAME or NAME://ADDRESS."),
        click.option("--parallel", type=click.IntRange(1), help="Runs at a time.  [default: twice the cores]"),
        click.option(
            "--storage",
            metavar="DIR|URL",
            help="On a cluster: where runs are kept, a folder that all nodes see or s3://BUCKET/PREFIX.  "
            "[default: the experiment's folder]",
        ),
        click.option(
            "--rate",
            "rates",
            multiple=True,
            metavar="MODEL=N",
            help="On a cluster: requests a minute to a model, over all nodes. Repeatable.",
        ),
        click.option("--retry", is_flag=True, help="Do failed runs again."),
        click.option("--curve", is_flag=True, help="Also grade every earlier submission: score over time."),
    ):
        command = option(command)
    return command


def register_options(command: Decorated) -> Decorated:
    """The options that make an experiment known to a board before it begins."""
    for option in (
        key_file,
        click.option("--register", metavar="BOARD", help="Register on a board first: a folder, or an address."),
    ):
        command = option(command)
    return command


@contextmanager
def _anchored(experiment: Experiment, options: dict[str, Any]) -> Iterator[Changed]:
    """Registers an experiment if that is asked for, and anchors its runs for as long as the block lasts."""
    address = options.get("register")
    if address is None:
        if (experiment.folder / "registration.json").exists():
            raise UsageError(
                f"{experiment.folder} was registered on a board. Repeat --register BOARD and --key, so that its runs "
                "stay anchored."
            )
        yield lambda run: None
        return
    require_extra("board")
    from podium.board.anchor import Anchoring
    from podium.board.board_client import open_board
    from podium.board.keys import default_key, read_key
    from podium.board.register import register

    board, key = open_board(address), read_key(options["key"] or default_key())
    registration = register(experiment, board, key)
    click.echo(f"Registered on {board.address} as {registration.id}", err=True)
    with Anchoring(experiment, board, key, registration) as anchoring:
        yield anchoring.note
    if anchoring.unsent:
        told = f"Warning: {plural(anchoring.unsent, 'run')} could not be anchored on {board.address}. Try again with: "
        click.echo(f"{told}podium resume {experiment.folder} --register {address}", err=True)


def chosen_executor(options: dict[str, Any]) -> Executor:
    """The one that `executor_options` name; what is wrong with them is told before anything is written."""
    from podium.runs.drive.executors import make_executor

    if options.get("key") and not options.get("register"):
        raise UsageError("--key goes with --register BOARD: without a board nothing is signed.")
    return make_executor(options["on"], parallel=options["parallel"], **_cluster_settings(options))


def carry_out(experiment: Experiment, executor: Executor, options: dict[str, Any], *, as_json: bool) -> None:
    """Carries out an experiment's runs, shows them, and sums them up.

    Args:
        options: those of `executor_options`.

    Raises:
        PodiumError: not all runs were done, or some failed.
    """
    from podium.runs.attempt.grade_run import write_curve
    from podium.runs.drive.driver import Driver

    driver = Driver(experiment, retry=options["retry"], answer=_answer)
    if experiment.plan.miniature:
        click.echo(miniature_warning(1, 1), err=True)
    if not as_json:
        click.echo(f"{plural(len(driver.runs), 'run')} in {experiment.folder}", err=True)
    with _anchored(experiment, options) as note:
        drive(driver, executor, note)
    if options["curve"]:
        for run in driver.runs:
            if run.state == "finished":
                write_curve(run.folder, run.request.task, experiment.plan)
    if as_json:
        records = [run.folder.read_record() for run in driver.runs if run.record]
        print_json([record.model_dump(mode="json") for record in records if record])
    else:
        show_results(driver.runs)
    complain(driver)
    if not as_json:
        tell_next(f"podium report {experiment.folder}", f"podium view {experiment.folder}")


def _cluster_settings(options: dict[str, Any]) -> dict[str, Any]:
    """What only executors of clusters are told."""
    settings: dict[str, Any] = {} if options["storage"] is None else {"storage": options["storage"]}
    try:
        rates = {model: float(rate) for model, rate in pairs(options["rates"], "--rate").items()}
    except ValueError as error:
        raise UsageError(f"--rate: {error}; write MODEL=N, such as openai/gpt-4o=500") from error
    if any(not rate > 0 for rate in rates.values()):
        raise UsageError("--rate: the number of requests a minute is more than 0")
    return settings | ({"rates": rates} if rates else {})


def drive(driver: Driver, executor: Executor, note: Changed = lambda run: None) -> None:
    """Works off the runs, showing them on the terminal; Ctrl-C stops them in order.

    Args:
        note: is told of every change in a run too.
    """
    say: Callable[[str], None] = partial(click.echo, err=True)
    pressed = 0

    def interrupt(*_: object) -> None:
        nonlocal pressed
        pressed += 1
        driver.stop()
        say(STOPPING if pressed == 1 else "Stopping now.")

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        if sys.stderr.isatty() and not driver.experiment.plan.person:  # a table that redraws itself hides questions
            from podium.cli.live_table import LiveTable

            with LiveTable(driver.runs) as table:
                say = table.say
                driver.carry_out(executor, _both(table.changed, note))
        else:
            driver.carry_out(executor, _both(_line_printer(), note))
    finally:
        signal.signal(signal.SIGINT, before)


def _both(first: Changed, second: Changed) -> Changed:
    def changed(run: FollowedRun) -> None:
        first(run)
        second(run)

    return changed


def _line_printer() -> Callable[[FollowedRun], None]:
    """Prints a line when a run starts, ends, or has come another ten steps further."""
    said: dict[str, tuple[str, int]] = {}

    def changed(run: FollowedRun) -> None:
        now = (run.state, run.progress.step // 10 if run.progress else 0)
        if said.get(run.name) != now:
            said[run.name] = now
            click.echo(printable(f"{run.name}: {describe(run)}"), err=True)

    return changed


def describe(run: FollowedRun) -> str:
    """A run in words."""
    record = run.record
    if run.error is not None:
        return f"cannot be read: {run.error}"
    if record is None:
        return f"{run.state}, step {run.progress.step}" if run.progress and run.progress.step else run.state
    graded = f"score {record.score}, {place_of(record)}".rstrip(", ")
    if record.status == "failed":
        return f"failed: {record.error}{f'; what it had submitted: {graded}' if record.valid else ''}"
    if not record.valid:
        return f"{record.status}, {'no valid submission: ' + record.error if record.error else 'not graded'}"
    return f"{record.status} ({record.ended_by}), {graded}"


def _answer(run: FollowedRun, request: str) -> str | None:
    """What the person at the terminal says to an agent's request."""
    click.echo(printable(f"\n{run.name} asks for help:\n{request}\n", lines=True), err=True)
    try:
        return str(click.prompt("Your answer", err=True))
    except click.Abort:  # no terminal, or no wish to answer
        return None


def complain(driver: Driver) -> None:
    """Says what is left to do.

    Raises:
        PodiumError: not all runs were done, or some failed.
    """
    runs, folder = driver.runs, driver.experiment.folder
    failed = [run for run in runs if run.state == "failed"]
    unreadable = [run for run in runs if run.error is not None]
    if unreadable:
        raise PodiumError(f"{len(unreadable)} of {len(runs)} runs cannot be read. First: {unreadable[0].error}")
    undone = [run for run in runs if run.record is None or run.state == "stopped"]
    if undone and (spent := driver.used_up()):
        raise PodiumError(
            f"{len(undone)} of {len(runs)} runs are not done: {spent} are used up. Continue with more: "
            f"{resume_command(folder, *(('--total-tokens', 'N') if 'tokens' in spent else ('--total-cost', 'USD')))}"
        )
    if undone:
        raise PodiumError(f"{len(undone)} of {len(runs)} runs are not done. Continue with: {resume_command(folder)}")
    if failed:
        raise PodiumError(
            f"{len(failed)} of {len(runs)} runs failed. The log of the first: {failed[0].folder.output}. "
            f"Do them again with: {resume_command(folder, '--retry')}"
        )
