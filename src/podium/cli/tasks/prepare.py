"""`podium prepare`: public and private data of tasks, several tasks in parallel."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from podium.cli.machines.completion import complete_task_or_suite
from podium.cli.options import as_json, data_dir, edition, print_json, task_folders
from podium.errors import PodiumError


@click.command(name="prepare")
@click.argument("names", metavar="TASK|SUITE...", nargs=-1, required=True, shell_complete=complete_task_or_suite)
@click.option("--miniature", is_flag=True, help="Prepare small fabricated data instead of real data.")
@click.option("--raw", type=click.Path(path_type=Path), help="Folder with the extracted download, for a single task.")
@data_dir
@click.option(
    "--jobs",
    metavar="N",
    type=click.IntRange(1),
    help="Number of tasks to prepare in parallel.  [default: number of cores]",
)
@edition
@task_folders
@as_json
def command(names: tuple[str, ...], jobs: int | None, as_json: bool, **options: Any) -> None:
    """Download and prepare the data of tasks."""
    from podium.catalog.prepare_many import prepare_many
    from podium.catalog.registry import expand, load_all
    from podium.cli.progress_bars import show_progress, worker_logging

    ids = expand(list(names))
    if options["raw"] and len(ids) > 1:
        raise click.UsageError("--raw is the download of one task. Give a single task with it.")
    if options["raw"] and options["miniature"]:
        raise click.UsageError(
            "--raw and --miniature cannot be combined: a miniature needs no download. Give one of them."
        )
    if options["edition"]:
        load_all(ids, options["edition"])
    outcomes = []
    with show_progress("Preparing", len(ids)) as progress:
        initializer, arguments, close = worker_logging()
        for outcome in prepare_many(ids, jobs=jobs, initializer=initializer, arguments=arguments, **options):
            outcomes.append(outcome)
            message = "failed" if outcome.error and len(ids) == 1 else outcome.error or outcome.status
            progress.advance(f"{outcome.task}: {message}")
        close()
    failures = [outcome for outcome in outcomes if outcome.error]
    if as_json:
        print_json([vars(outcome) for outcome in outcomes])
    if failures and len(ids) == 1:
        raise PodiumError(str(failures[0].error))
    if failures:
        raise PodiumError(
            f"{len(failures)} of {len(ids)} tasks could not be prepared. "
            f"First failure: {failures[0].task}: {failures[0].error}"
        )
