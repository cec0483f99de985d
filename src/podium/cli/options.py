"""Options that several commands share."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from podium.errors import MissingExtraError, UsageError
from podium.text import parse_duration, parse_size

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


class Parsed(click.ParamType):  # type: ignore[type-arg]  # generic in newer versions of click only
    """A value with a form of its own, such as 24h or 8G."""

    def __init__(self, name: str, parse: Callable[[str], Any]) -> None:
        self.name, self._parse = name, parse

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> Any:
        try:
            return self._parse(value) if isinstance(value, str) else value
        except ValueError as error:
            self.fail(str(error), param, context)


def _parse_hosts(text: str) -> bool | tuple[str, ...]:
    """What programs may reach: `none`, `all`, or hosts separated by commas."""
    from podium.sandbox.linux.proxy import parse_host

    if text in ("all", "none"):
        return text == "all"
    hosts = tuple(text.split(","))
    for host in hosts:
        try:
            parse_host(host)
        except ValueError as error:
            raise ValueError(f"{error}; for all hosts write --network=all") from error
    return hosts


DURATION, SIZE, HOSTS = Parsed("duration", parse_duration), Parsed("size", parse_size), Parsed("hosts", _parse_hosts)

data_dir = click.option(
    "--data-dir",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where the data of tasks lies.  [default: $PODIUM_HOME/data]",
)
edition = click.option(
    "--edition",
    type=click.Choice(["v1", "fixed"]),
    help="Edition of the task.  [default: fixed for research tasks, else v1]",
)


def _search_folders(context: click.Context, parameter: click.Parameter, folders: tuple[Path, ...]) -> None:
    """Adds folders to $PODIUM_TASKS while the command runs, so that the processes it starts search them too."""
    before = os.environ.get("PODIUM_TASKS", "")
    named = [str(folder.absolute()) for folder in folders]
    for name in named:
        if os.pathsep in name:
            raise UsageError(f"--tasks {name}: a folder of tasks cannot have '{os.pathsep}' in its name.")
    context.meta["podium.task_folders"] = named
    if named:
        os.environ["PODIUM_TASKS"] = os.pathsep.join([*named, before] if before else named)
        context.call_on_close(lambda: os.environ.__setitem__("PODIUM_TASKS", before))


def resume_command(folder: Path, *options: str) -> str:
    """The command that continues an experiment, as it has to be typed after this one."""
    from podium.runs.experiment import read_experiment
    from podium.runs.plan.trusted_plans import is_known_plan

    context = click.get_current_context(silent=True)
    folders = context.meta.get("podium.task_folders", []) if context else []
    trust = () if is_known_plan(read_experiment(folder).plan) else ("--trust",)
    return shlex.join(["podium", "resume", str(folder), *(f"--tasks={name}" for name in folders), *trust, *options])


task_folders = click.option(
    "--tasks",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    multiple=True,
    expose_value=False,
    callback=_search_folders,
    help="A folder with further task files. Repeatable.  [default: $PODIUM_TASKS]",
)
key_file = click.option(
    "--key",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file with your private key.  [default: key.pem in the configuration folder]",
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")


def print_json(document: Any) -> None:
    """Prints a JSON document on standard output; what a terminal might obey is escaped."""
    text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)
    click.echo("".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text))


def echo_cut(line: str, *, err: bool = False) -> None:
    """Prints a line, cut to the width of the terminal if there is one."""
    stream = sys.stderr if err else sys.stdout
    width = shutil.get_terminal_size().columns if stream.isatty() else len(line)
    click.echo(line if len(line) <= width else f"{line[: width - 1]}…", err=err)


EXTRAS = {
    "run": ("Running agents", ("inspect_ai", "openai")),
    "report": ("A report", ("pydantic",)),
    "board": ("A board", ("inspect_ai", "cryptography", "jinja2")),
    "view": ("The web page", ("inspect_ai", "starlette", "uvicorn", "jinja2")),
}
"""What each extra is for, and the packages that tell whether it is installed."""


def require_extra(extra: str) -> None:
    """Refuses what needs an extra where that is not installed.

    Raises:
        MissingExtraError: it is not.
    """
    from importlib.util import find_spec

    what, packages = EXTRAS[extra]
    if any(find_spec(name) is None for name in packages):
        raise MissingExtraError(what, extra)


TIME_HELP = (
    "Working time per run, such as 24h, without waiting.  [default, if no budget is given: the task's own: 24h for "
    "Kaggle's competitions, 5h and 50 steps for research tasks, 10m for forged tasks, tables and miniatures]"
)


def budget_options(command: Decorated) -> Decorated:
    """The options that bound what a run may use."""
    for option in (
        click.option(
            "--total-cost", type=click.FloatRange(0, min_open=True), help="Dollars for models, of all runs together."
        ),
        click.option("--total-tokens", type=click.IntRange(1), help="Model tokens of all runs together."),
        click.option(
            "--prices",
            "price_file",
            type=click.Path(exists=True, dir_okay=False, path_type=Path),
            help="A JSON file with what models cost; see: docs/budgets.md.  [default: prices that come with Podium]",
        ),
        click.option("--cost", type=click.FloatRange(0, min_open=True), help="Dollars for models per run."),
        click.option("--tokens", type=click.IntRange(1), help="Model tokens per run."),
        click.option("--steps", type=click.IntRange(1), help="Steps per run."),
        click.option("--wall-time", "wall_s", type=DURATION, help="Time per run by the clock, waiting included."),
        click.option("--time", "time_s", type=DURATION, help=TIME_HELP),
    ):
        command = option(command)
    return command


def read_spending(options: dict[str, Any]) -> dict[str, Any]:
    """The parts of a plan that say what models cost and what all runs together may use, as far as they are given."""
    found = {name: options[name] for name in ("total_tokens", "total_cost") if options[name] is not None}
    if options["price_file"] is not None:
        from podium.models.prices import read_prices

        found["prices"] = read_prices(options["price_file"])
    return found


def pairs(texts: tuple[str, ...], option: str) -> dict[str, str]:
    """The values of a repeatable option NAME=VALUE, by name."""
    wrong = [text for text in texts if "=" not in text]
    if wrong:
        raise UsageError(f"{option} {wrong[0]}: write NAME=VALUE")
    return dict(text.split("=", 1) for text in texts)


def env_place(text: str | None) -> str | None:
    """Where `--env` is: a folder from wherever one looks, or the name of an interpreter that Podium builds."""
    from podium.sandbox.interpreters.pinned_environments import KINDS

    return text if text is None or text in KINDS else str(Path(text).absolute())
