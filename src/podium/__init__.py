"""Podium measures how well AI agents do machine-learning engineering."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from podium.api import grade, load, prepare, tasks, validate
    from podium.errors import PodiumError
    from podium.task import Task

    __version__: str

__all__ = ["PodiumError", "Task", "grade", "load", "prepare", "tasks", "validate"]

_HOMES = {"PodiumError": "podium.errors", "Task": "podium.task"}


def __getattr__(name: str) -> Any:
    """Imports what is asked for, so that the command line starts at once."""
    if name == "__version__":
        from importlib.metadata import version

        return version("podium")
    if name not in __all__:
        raise AttributeError(f"module 'podium' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(_HOMES.get(name, "podium.api")), name)
