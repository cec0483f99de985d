"""`podium prepare`: makes the data of tasks, several at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from podium.cli.options import as_json, data_dir, edition, print_json, task_folders
from podium.errors import PodiumError


@click.command(name="prepare")
@click.argument("names", metavar="TASK|SUITE...", nargs=-1, required=True)
@click.option("--miniature", is_flag=True, help="Fabricate a tiny stand-in instead of using real data.")
@click.option("--raw", type=click.Path(path_type=Path), help="Folder with the extracted download (one task only).")
@data_dir
@click.option("--jobs", type=click.IntRange(1), help="Tasks to prepare at a time.  [default: number of cores]")
@edition
@task_folders
@as_json
def command(names: tuple[str, ...], jobs: int | None, as_json: bool, **options: Any) -> None:
    """Make the public and private data of tasks."""
    from podium.catalog import expand
    from podium.catalog.preparing import prepare_many
    from podium.cli.progress import show_progress, worker_logging

    ids = expand(list(names))
    if options["raw"] and len(ids) > 1:
        raise click.UsageError("--raw is the download of one task; give one task with it.")
    outcomes = []
    with show_progress("Preparing", len(ids)) as progress:
        initializer, arguments, close = worker_logging()
        for outcome in prepare_many(ids, jobs=jobs, initializer=initializer, arguments=arguments, **options):
            outcomes.append(outcome)
            progress.advance(f"{outcome.task}: {outcome.error or outcome.status}")
        close()
    failures = [outcome for outcome in outcomes if outcome.error]
    if as_json:
        print_json([vars(outcome) for outcome in outcomes])
    if failures:
        raise PodiumError(
            f"{len(failures)} of {len(ids)} tasks could not be prepared. First, {failures[0].task}: {failures[0].error}"
        )
