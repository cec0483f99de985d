"""Prepares several tasks at a time, each in a process of its own."""

from __future__ import annotations

import logging
import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any

from podium.catalog import load
from podium.errors import PodiumError, explain

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class PreparedOne:
    """What became of one of several tasks."""

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
) -> Iterator[PreparedOne]:
    """Prepares tasks, yielding each as it is done; one that fails does not keep the others from being prepared.

    Args:
        jobs: tasks at a time; by default one for each core.
        initializer: called with `arguments` in every process before its first task.
        options: of `prepare_task`.
    """
    jobs = min(jobs or len(os.sched_getaffinity(0)), len(ids))
    if jobs <= 1:
        yield from (_prepare_one(task_id, options) for task_id in ids)
        return
    context = multiprocessing.get_context("spawn")  # a forked worker would log through this process's handlers too
    broken = []
    with ProcessPoolExecutor(jobs, context, initializer, arguments) as pool:
        futures = {pool.submit(_prepare_one, task_id, options): task_id for task_id in ids}
        for future in as_completed(futures):
            try:
                yield future.result()
            except BrokenProcessPool:  # perhaps by the fault of another task
                broken.append(futures[future])
    for task_id in broken:
        with ProcessPoolExecutor(1, context, initializer, arguments) as pool:
            try:
                yield pool.submit(_prepare_one, task_id, options).result()
            except BrokenProcessPool:
                yield PreparedOne(task_id, error="its process was ended, as happens where memory is short")


def _prepare_one(task_id: str, options: dict[str, Any]) -> PreparedOne:
    from podium.data.prepare import prepare_task

    try:
        done = prepare_task(load(task_id), **options)
    except (PodiumError, OSError) as error:
        logger.debug("Preparing %s failed", task_id, exc_info=True)
        return PreparedOne(task_id, error=explain(error))
    return PreparedOne(task_id, done.status, str(done.place.root), done.miniature)
