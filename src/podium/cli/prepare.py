"""`podium prepare`: makes the data of tasks, several at a time."""

from __future__ import annotations

import logging
import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
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
    from podium.cli.progress import show_progress

    ids = expand(list(names))
    if options["raw"] and len(ids) > 1:
        raise click.UsageError("--raw is the download of one task; give one task with it.")
    outcomes = []
    with show_progress("Preparing", len(ids)) as progress:
        for outcome in prepare_all(ids, jobs=jobs or len(os.sched_getaffinity(0)), options=options):
            outcomes.append(outcome)
            progress.advance(f"{outcome.task}: {outcome.error or outcome.status}")
    failures = [outcome for outcome in outcomes if outcome.error]
    if as_json:
        print_json([vars(outcome) for outcome in outcomes])
    if failures:
        raise PodiumError(
            f"{len(failures)} of {len(ids)} tasks could not be prepared. First, {failures[0].task}: {failures[0].error}"
        )


@dataclass(frozen=True)
class Outcome:
    """What became of one task."""

    task: str
    status: str | None = None
    data: str | None = None
    miniature: bool | None = None
    error: str | None = None


def prepare_all(ids: list[str], *, jobs: int, options: dict[str, Any]) -> Any:
    """Prepares tasks in as many processes, yielding each outcome as it comes."""
    if len(ids) == 1 or jobs == 1:
        for task_id in ids:
            yield _prepare_one(task_id, options)
        return
    from podium.cli.progress import worker_logging

    initializer, arguments, close = worker_logging()
    context = multiprocessing.get_context("spawn")  # a forked worker would log through this process's handlers too
    with ProcessPoolExecutor(min(jobs, len(ids)), context, initializer, arguments) as pool:
        for future in as_completed([pool.submit(_prepare_one, task_id, options) for task_id in ids]):
            yield future.result()
    close()


def _prepare_one(task_id: str, options: dict[str, Any]) -> Outcome:
    from podium import api

    try:
        done = api.prepare(task_id, **options)
    except (PodiumError, OSError) as error:
        logging.getLogger(__name__).debug("Preparing %s failed", task_id, exc_info=True)
        return Outcome(task_id, error=str(error))
    return Outcome(task_id, done.status, str(done.place.root), done.miniature)
