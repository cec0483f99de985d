"""Options that several commands share."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import click

from podium.errors import MissingExtraError, UsageError

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
    if named:
        os.environ["PODIUM_TASKS"] = os.pathsep.join([*named, before] if before else named)
        context.call_on_close(lambda: os.environ.__setitem__("PODIUM_TASKS", before))


task_folders = click.option(
    "--tasks",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    multiple=True,
    expose_value=False,
    callback=_search_folders,
    help="A folder with further task files. Repeatable.  [default: $PODIUM_TASKS]",
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")


def print_json(document: Any) -> None:
    """Prints a JSON document on standard output."""
    click.echo(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False))


EXTRAS = {
    "run": ("Running agents", ("inspect_ai", "openai")),
    "report": ("A report", ("pydantic",)),
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
