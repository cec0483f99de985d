"""Parallel preparation of several tasks, each in its own process."""

from __future__ import annotations

import logging
import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any

from podium.catalog.registry import load
from podium.errors import PodiumError, explain

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class PrepareOutcome:
    """Outcome of preparing one of several tasks."""

    task: str
    status: str | None = None
    data: str | None = None
    miniature: bool | None = None
    error: str | None = None


def prepare_many(
    ids: Sequence[str],
    *,
    jobs: int | None = None,
    initializer: Callable[..., None] | None = None,
    arguments: tuple[Any, ...] = (),
    **options: Any,
) -> Iterator[PrepareOutcome]:
    """Prepare tasks and yield each outcome when it is done; a failure does not stop the others.

    Args:
        jobs: The number of parallel processes; default: one per core.
        initializer: Called with `arguments` in every process before its first task.
        options: Further options of `prepare_task`.
    """
    jobs = min(jobs or len(os.sched_getaffinity(0)), len(ids))
    if jobs <= 1:
        yield from (_prepare_one(task_id, options) for task_id in ids)
        return
    context = multiprocessing.get_context("spawn")  # a forked worker would inherit this process's log handlers
    broken = []
    with ProcessPoolExecutor(jobs, context, initializer, arguments) as pool:
        futures = {pool.submit(_prepare_one, task_id, options): task_id for task_id in ids}
        for future in as_completed(futures):
            try:
                yield future.result()
            except BrokenProcessPool:  # possibly caused by another task
                broken.append(futures[future])
    for task_id in broken:
        with ProcessPoolExecutor(1, context, initializer, arguments) as pool:
            try:
                yield pool.submit(_prepare_one, task_id, options).result()
            except BrokenProcessPool:
                yield PrepareOutcome(task_id, error="The process was killed, possibly because memory ran out.")


def _prepare_one(task_id: str, options: dict[str, Any]) -> PrepareOutcome:
    from podium.data.prepare import prepare_task

    try:
        done = prepare_task(load(task_id), **options)
    except (PodiumError, OSError) as error:
        logger.debug("Preparing %s failed", task_id, exc_info=True)
        return PrepareOutcome(task_id, error=explain(error))
    return PrepareOutcome(task_id, done.status, str(done.place.root), done.miniature)
