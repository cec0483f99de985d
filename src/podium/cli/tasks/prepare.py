"""`podium prepare`: makes the data of tasks, several at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from podium.cli.machines.completion import complete_task_or_suite
from podium.cli.options import as_json, data_dir, edition, print_json, task_folders
from podium.errors import PodiumError


@click.command(name="prepare")
@click.argument("names", metavar="TASK|SUITE...", nargs=-1, required=True, shell_complete=complete_task_or_suite)
@click.option("--miniature", is_flag=True, help="Fabricate a tiny stand-in instead of using real data.")
@click.option("--raw", type=click.Path(path_type=Path), help="Folder with the extracted download (one task only).")
@data_dir
@click.option("--jobs", type=click.IntRange(1), help="Tasks to prepare at a time.  [default: number of cores]")
@edition
@task_folders
@as_json
def command(names: tuple[str, ...], jobs: int | None, as_json: bool, **options: Any) -> None:
    """Download and prepare the data of tasks."""
    from podium.catalog import expand, load_all
    from podium.catalog.prepare_many import prepare_many
    from podium.cli.progress_bars import show_progress, worker_logging

    ids = expand(list(names))
    if options["raw"] and len(ids) > 1:
        raise click.UsageError("--raw is the download of one task; give one task with it.")
    if options["raw"] and options["miniature"]:
        raise click.UsageError("Give either --raw or --miniature: a miniature is made from nothing.")
    if options["edition"]:
        load_all(ids, options["edition"])
    outcomes = []
    with show_progress("Preparing", len(ids)) as progress:
        initializer, arguments, close = worker_logging()
        for outcome in prepare_many(ids, jobs=jobs, initializer=initializer, arguments=arguments, **options):
            outcomes.append(outcome)
            said = "failed" if outcome.error and len(ids) == 1 else outcome.error or outcome.status
            progress.advance(f"{outcome.task}: {said}")
        close()
    failures = [outcome for outcome in outcomes if outcome.error]
    if as_json:
        print_json([vars(outcome) for outcome in outcomes])
    if failures and len(ids) == 1:
        raise PodiumError(str(failures[0].error))
    if failures:
        raise PodiumError(
            f"{len(failures)} of {len(ids)} tasks could not be prepared. First, {failures[0].task}: {failures[0].error}"
        )
