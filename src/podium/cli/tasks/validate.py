"""`podium validate`: format check of a submission."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from podium.cli.machines.completion import complete_task
from podium.cli.options import as_json, data_dir, edition, print_json, task_folders

INVALID = 3
"""Exit code for an invalid submission, so that scripts can distinguish it from an error."""


@click.command(name="validate")
@click.argument("task", shell_complete=complete_task)
@click.argument("file", type=click.Path(path_type=Path))
@data_dir
@edition
@task_folders
@as_json
def command(task: str, file: Path, data_dir: Path | None, edition: Any, as_json: bool) -> None:
    """Check the format of a submission; needs no answers.

    Exit codes: 0 if valid, 3 if invalid, 1 or 2 if it could not be checked.
    """
    from podium import api

    result = api.validate(task, file, data_dir=data_dir, edition=edition)
    if as_json:
        print_json(result.to_dict())
    else:
        if result.miniature:
            click.echo("MINIATURE: checked against fabricated data, not the data of the real task.")
        click.echo("Submission is valid." if result.valid else f"Submission is invalid: {result.error}")
    if not result.valid:
        sys.exit(INVALID)
