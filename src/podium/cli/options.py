"""Shared command-line options and their parsing."""

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
    """Parameter type with its own syntax, such as 24h or 8G."""

    def __init__(self, name: str, parse: Callable[[str], Any]) -> None:
        self.name, self._parse = name, parse

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> Any:
        try:
            return self._parse(value) if isinstance(value, str) else value
        except ValueError as error:
            self.fail(str(error), param, context)


def _parse_hosts(text: str) -> bool | tuple[str, ...]:
    """Parse `none`, `all`, or an allow-list of hosts separated by commas."""
    from podium.sandbox.linux.proxy import parse_host

    if text in ("all", "none"):
        return text == "all"
    hosts = tuple(text.split(","))
    for host in hosts:
        try:
            parse_host(host)
        except ValueError as error:
            raise ValueError(f"{error}. To allow all hosts, write --network=all") from error
    return hosts


DURATION, SIZE, HOSTS = Parsed("duration", parse_duration), Parsed("size", parse_size), Parsed("hosts", _parse_hosts)

data_dir = click.option(
    "--data-dir",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder with the data of tasks.  [default: $PODIUM_HOME/data]",
)
edition = click.option(
    "--edition",
    type=click.Choice(["v1", "fixed"]),
    help="Edition of the task.  [default: fixed for research tasks, v1 for others]",
)


def _search_folders(context: click.Context, parameter: click.Parameter, folders: tuple[Path, ...]) -> None:
    """Add folders to $PODIUM_TASKS while the command runs, so that its child processes search them too."""
    before = os.environ.get("PODIUM_TASKS", "")
    named = [str(folder.absolute()) for folder in folders]
    for name in named:
        if os.pathsep in name:
            raise UsageError(f"--tasks {name}: the name of a task folder cannot contain '{os.pathsep}'.")
    context.meta["podium.task_folders"] = named
    if named:
        os.environ["PODIUM_TASKS"] = os.pathsep.join([*named, before] if before else named)
        context.call_on_close(lambda: os.environ.__setitem__("PODIUM_TASKS", before))


def resume_command(folder: Path, *options: str) -> str:
    """Return the command that continues an experiment, with the `--tasks` and `--trust` options it needs."""
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
    help="Folder with your own task files. Repeatable.  [default: $PODIUM_TASKS]",
)
key_file = click.option(
    "--key",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File with your private key.  [default: key.pem in the configuration folder]",
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")


def print_json(document: Any) -> None:
    """Print a JSON document on standard output, with terminal control characters escaped."""
    text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)
    click.echo("".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text))


def echo_cut(line: str, *, err: bool = False) -> None:
    """Print a line, truncated to the width of the terminal if there is one."""
    stream = sys.stderr if err else sys.stdout
    width = shutil.get_terminal_size().columns if stream.isatty() else len(line)
    click.echo(line if len(line) <= width else f"{line[: width - 1]}…", err=err)


EXTRAS = {
    "run": ("Running agents", ("inspect_ai", "openai")),
    "report": ("A report", ("pydantic",)),
    "board": ("A board", ("inspect_ai", "cryptography", "jinja2")),
    "view": ("The web page", ("inspect_ai", "starlette", "uvicorn", "jinja2")),
}
"""Purpose of each extra, and the packages whose presence shows that it is installed."""


def require_extra(extra: str) -> None:
    """Raise an error unless an extra is installed.

    Raises:
        MissingExtraError: the extra is not installed.
    """
    from importlib.util import find_spec

    purpose, packages = EXTRAS[extra]
    if any(find_spec(name) is None for name in packages):
        raise MissingExtraError(purpose, extra)


TIME_HELP = (
    "Working time per run, such as 24h, excluding waits.  [default without any budget option: 24h for Kaggle "
    "competitions, 5h and 50 steps for research tasks, 10m for forged tasks, open tables and miniatures]"
)


def budget_options(command: Decorated) -> Decorated:
    """Add the options of the budget."""
    for option in (
        click.option(
            "--total-cost",
            metavar="USD",
            type=click.FloatRange(0, min_open=True),
            help="Maximum model cost of all runs together, in US dollars.",
        ),
        click.option(
            "--total-tokens", metavar="N", type=click.IntRange(1), help="Maximum model tokens of all runs together."
        ),
        click.option(
            "--prices",
            "price_file",
            type=click.Path(exists=True, dir_okay=False, path_type=Path),
            help="JSON file with model prices; see docs/budgets.md.  [default: Podium's built-in prices]",
        ),
        click.option(
            "--cost",
            metavar="USD",
            type=click.FloatRange(0, min_open=True),
            help="Maximum model cost per run, in US dollars.",
        ),
        click.option("--tokens", metavar="N", type=click.IntRange(1), help="Maximum model tokens per run."),
        click.option("--steps", metavar="N", type=click.IntRange(1), help="Maximum steps per run."),
        click.option("--wall-time", "wall_s", type=DURATION, help="Wall-clock time per run, including waits."),
        click.option("--time", "time_s", type=DURATION, help=TIME_HELP),
    ):
        command = option(command)
    return command


def spending_settings(options: dict[str, Any]) -> dict[str, Any]:
    """Return the plan's prices and its token and cost limits for all runs together, as far as they are set."""
    settings = {name: options[name] for name in ("total_tokens", "total_cost") if options[name] is not None}
    if options["price_file"] is not None:
        from podium.models.prices import read_prices

        settings["prices"] = read_prices(options["price_file"])
    return settings


def parse_pairs(texts: tuple[str, ...], option: str) -> dict[str, str]:
    """Parse the values of a repeatable option NAME=VALUE, by name."""
    wrong = [text for text in texts if "=" not in text]
    if wrong:
        raise UsageError(f"{option} {wrong[0]}: write NAME=VALUE")
    return dict(text.split("=", 1) for text in texts)


def resolve_env(text: str | None) -> str | None:
    """Return the value of `--env` as an absolute folder, or as the name of a pinned environment."""
    from podium.sandbox.interpreters.pinned_environments import KINDS

    return text if text is None or text in KINDS else str(Path(text).absolute())
