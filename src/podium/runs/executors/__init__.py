"""Executors: whoever carries out runs. They are found by name; `local` is the default."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podium import plugins
from podium.runs.executors.base import Executor, RunRequest

if TYPE_CHECKING:
    from collections.abc import Callable

EXECUTORS = {"local": "podium.runs.executors.local:LocalExecutor"}

__all__ = ["EXECUTORS", "Executor", "RunRequest", "make_executor"]


def make_executor(text: str = "local", *, parallel: int | None = None) -> Executor:
    """The executor that `--on` names: `NAME`, or `NAME://ADDRESS`.

    Args:
        parallel: how many runs at a time; None for what suits the executor.

    Raises:
        UsageError: there is no such executor.
    """
    name, _, address = text.partition("://")
    factory: Callable[..., Executor] = plugins.find("executors", name, EXECUTORS)
    return factory(address=address or None, parallel=parallel)
