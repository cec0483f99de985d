"""`podium validate`: checks the form of a submission."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from podium.cli.options import as_json, data_dir, edition, print_json, task_folders


@click.command(name="validate")
@click.argument("task")
@click.argument("file", type=click.Path(path_type=Path))
@data_dir
@edition
@task_folders
@as_json
def command(task: str, file: Path, data_dir: Path | None, edition: Any, as_json: bool) -> None:
    """Check whether FILE has the form TASK asks for; needs no answers."""
    from podium import api

    result = api.validate(task, file, data_dir=data_dir, edition=edition)
    if as_json:
        print_json(result.to_dict())
    else:
        click.echo("Submission is valid." if result.valid else f"Submission is invalid: {result.error}")
