"""Executors: where runs execute, registered by name. The default is `local`."""

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
    """Create the executor for an `--on` value: `NAME` or `NAME://ADDRESS`.

    Args:
        parallel: maximum number of concurrent runs; None for the executor's default.
        settings: further settings of the executor, such as `storage`.

    Raises:
        UsageError: the executor does not exist or does not support a setting.
    """
    name, _, address = text.partition("://")
    factory: Callable[..., Executor] = plugins.find("executors", name, EXECUTORS)
    unknown = settings.keys() - signature(factory).parameters.keys()
    if unknown:
        option = sorted(unknown)[0].removesuffix("s")
        raise UsageError(f"--on {name} does not support --{option}. Use a cluster, for example: --on ray")
    return factory(address=address or None, parallel=parallel, **settings)
