"""Options that several commands share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from podium.errors import MissingExtraError

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
