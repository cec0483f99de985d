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


def require_run_extra() -> None:
    """Refuses what needs Inspect where it is not installed.

    Raises:
        MissingExtraError: it is not.
    """
    from importlib.util import find_spec

    if find_spec("inspect_ai") is None:
        raise MissingExtraError("Running agents", "run")
