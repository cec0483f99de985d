"""Executors: whoever carries out runs. They are found by name; `local` is the default."""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Any

from podium import plugins
from podium.errors import UsageError
from podium.runs.drive.executors.executor import Executor, RunRequest

if TYPE_CHECKING:
    from collections.abc import Callable

EXECUTORS = {"local": "podium.runs.drive.executors.local_executor:LocalExecutor", "ray": "podium.cluster.ray:Ray"}

__all__ = ["EXECUTORS", "Executor", "RunRequest", "make_executor"]


def make_executor(text: str = "local", *, parallel: int | None = None, **settings: Any) -> Executor:
    """The executor that `--on` names: `NAME`, or `NAME://ADDRESS`.

    Args:
        parallel: how many runs at a time; None for what suits the executor.
        settings: what else the executor is to know, such as `storage`.

    Raises:
        UsageError: there is no such executor, or it has no such setting.
    """
    name, _, address = text.partition("://")
    factory: Callable[..., Executor] = plugins.find("executors", name, EXECUTORS)
    unknown = settings.keys() - signature(factory).parameters.keys()
    if unknown:
        raise UsageError(
            f"--on {name} has no --{sorted(unknown)[0].removesuffix('s')}: that is for clusters, such as --on ray"
        )
    return factory(address=address or None, parallel=parallel, **settings)
