"""Shared code of `podium run`, `podium resume` and `podium baseline`: runs an experiment and shows its progress."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from podium.cli.options import Decorated, key_file, parse_pairs, print_json, require_extra, resume_command
from podium.cli.run_summary import describe_result, print_next_commands, show_results
from podium.errors import PodiumError, UsageError
from podium.text import miniature_warning, plural, printable

if TYPE_CHECKING:
    from podium.runs.drive.driver import Changed, Driver, FollowedRun
    from podium.runs.drive.executors import Executor
    from podium.runs.experiment import Experiment

STOPPING = "Stopping after the current steps. Press Ctrl-C again to stop immediately. No finished work is lost."


def executor_options(command: Decorated) -> Decorated:
    """Add the options that choose and configure the executor."""
    for option in (
        click.option(
            "--on",
            metavar="EXECUTOR",
            default="local",
            show_default=True,
            help="Where to run: local, ray, ray://HOST:PORT, or an installed executor.",
        ),
        click.option(
            "--parallel",
            metavar="N",
            type=click.IntRange(1),
            help="Maximum concurrent runs.  [default: twice the cores]",
        ),
        click.option(
            "--storage",
            metavar="DIR|URL",
            help="On a cluster: storage for runs, a folder shared by all nodes or s3://BUCKET/PREFIX.  "
            "[default: the experiment's folder]",
        ),
        click.option(
            "--rate",
            "rates",
            multiple=True,
            metavar="MODEL=N",
            help="On a cluster: rate limit of a model in requests per minute, over all nodes. Repeatable.",
        ),
        click.option("--retry", is_flag=True, help="Retry failed runs."),
        click.option(
            "--curve", is_flag=True, help="Also grade every earlier submission, for a curve of the score over time."
        ),
    ):
        command = option(command)
    return command


def register_options(command: Decorated) -> Decorated:
    """Add the options that register an experiment on a board before it starts."""
    for option in (
        key_file,
        click.option("--register", metavar="BOARD", help="Register on this board first: a folder or a URL."),
    ):
        command = option(command)
    return command


@contextmanager
def _anchored(experiment: Experiment, options: dict[str, Any]) -> Iterator[Changed]:
    """Register an experiment if `--register` is set, and anchor its runs until the block ends."""
    address = options.get("register")
    if address is None:
        if (experiment.folder / "registration.json").exists():
            raise UsageError(
                f"{experiment.folder} is registered on a board. Repeat --register BOARD and --key to anchor its "
                "remaining runs."
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
        warning = f"Warning: {plural(anchoring.unsent, 'run')} could not be anchored on {board.address}."
        click.echo(f"{warning} Retry with: podium resume {experiment.folder} --register {address}", err=True)


def executor_from(options: dict[str, Any]) -> Executor:
    """Return the executor that the options name; raise `UsageError` before anything is written if they are wrong."""
    from podium.runs.drive.executors import make_executor

    if options.get("key") and not options.get("register"):
        raise UsageError("--key requires --register BOARD: without a board nothing is signed.")
    return make_executor(options["on"], parallel=options["parallel"], **_cluster_settings(options))


def run_experiment(experiment: Experiment, executor: Executor, options: dict[str, Any], *, as_json: bool) -> None:
    """Run an experiment, show its progress and print a summary.

    Args:
        options: the values of `executor_options`.

    Raises:
        PodiumError: some runs are unfinished or failed.
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
        print_next_commands(f"podium report {experiment.folder}", f"podium view {experiment.folder}")


def _cluster_settings(options: dict[str, Any]) -> dict[str, Any]:
    """Return the settings that only cluster executors take."""
    settings: dict[str, Any] = {} if options["storage"] is None else {"storage": options["storage"]}
    try:
        rates = {model: float(rate) for model, rate in parse_pairs(options["rates"], "--rate").items()}
    except ValueError as error:
        raise UsageError(f"--rate: {error}. Write MODEL=N, such as openai/gpt-4o=500.") from error
    if any(not rate > 0 for rate in rates.values()):
        raise UsageError("--rate: the number of requests per minute must be more than 0.")
    return settings | ({"rates": rates} if rates else {})


def drive(driver: Driver, executor: Executor, note: Changed = lambda run: None) -> None:
    """Execute the runs and show them on the terminal; Ctrl-C stops them gracefully.

    Args:
        note: callback for every change of a run.
    """
    say: Callable[[str], None] = partial(click.echo, err=True)
    pressed = 0

    def interrupt(*_: object) -> None:
        nonlocal pressed
        pressed += 1
        driver.stop()
        say(STOPPING if pressed == 1 else "Stopping immediately.")

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        if sys.stderr.isatty() and not driver.experiment.plan.person:  # a table that redraws itself hides questions
            from podium.cli.live_table import LiveTable

            with LiveTable(driver.runs) as table:
                say = table.say
                driver.run_all(executor, _both(table.changed, note))
        else:
            driver.run_all(executor, _both(_line_printer(), note))
    finally:
        signal.signal(signal.SIGINT, before)


def _both(first: Changed, second: Changed) -> Changed:
    def changed(run: FollowedRun) -> None:
        first(run)
        second(run)

    return changed


def _line_printer() -> Callable[[FollowedRun], None]:
    """Return a callback that prints a line when a run starts, ends or completes another ten steps."""
    printed: dict[str, tuple[str, int]] = {}

    def changed(run: FollowedRun) -> None:
        now = (run.state, run.progress.step // 10 if run.progress else 0)
        if printed.get(run.name) != now:
            printed[run.name] = now
            click.echo(printable(f"{run.name}: {describe(run)}"), err=True)

    return changed


def describe(run: FollowedRun) -> str:
    """Return the state and result of a run as text."""
    record = run.record
    if run.error is not None:
        return f"cannot be read: {run.error}"
    if record is None:
        return f"{run.state}, step {run.progress.step}" if run.progress and run.progress.step else run.state
    graded = f"score {record.score}, {describe_result(record)}".rstrip(", ")
    if record.status == "failed":
        return f"failed: {record.error}; last submission: {graded}" if record.valid else f"failed: {record.error}"
    if not record.valid:
        return (
            f"{record.status}, no valid submission: {record.error}" if record.error else f"{record.status}, not graded"
        )
    return f"{record.status} ({record.ended_by}), {graded}"


def _answer(run: FollowedRun, request: str) -> str | None:
    """Prompt the person at the terminal for the answer to an agent's request."""
    click.echo(printable(f"\n{run.name} asks for help:\n{request}\n", lines=True), err=True)
    try:
        return str(click.prompt("Your answer", err=True))
    except click.Abort:  # no terminal, or Ctrl-C
        return None


def complain(driver: Driver) -> None:
    """Raise an error that names the command for unfinished or failed runs, if there are any.

    Raises:
        PodiumError: some runs are unfinished or failed.
    """
    runs, folder = driver.runs, driver.experiment.folder
    failed = [run for run in runs if run.state == "failed"]
    unreadable = [run for run in runs if run.error is not None]
    if unreadable:
        raise PodiumError(f"{len(unreadable)} of {len(runs)} runs cannot be read. First: {unreadable[0].error}")
    undone = [run for run in runs if run.record is None or run.state == "stopped"]
    if undone and (spent := driver.used_up()):
        raise PodiumError(
            f"{len(undone)} of {len(runs)} runs are unfinished: {spent} are used up. Raise the limit with: "
            f"{resume_command(folder, *(('--total-tokens', 'N') if 'tokens' in spent else ('--total-cost', 'USD')))}"
        )
    if undone:
        raise PodiumError(f"{len(undone)} of {len(runs)} runs are unfinished. Continue with: {resume_command(folder)}")
    if failed:
        raise PodiumError(
            f"{len(failed)} of {len(runs)} runs failed. Log of the first: {failed[0].folder.output}. "
            f"Retry with: {resume_command(folder, '--retry')}"
        )
