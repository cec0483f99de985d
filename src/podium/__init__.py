"""Podium measures how well AI agents do machine-learning engineering."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from podium.api import grade, load, prepare, resume, run, tasks, validate, verify
    from podium.environment.environment import Environment
    from podium.errors import PodiumError
    from podium.report.report_document import report
    from podium.task import Task
    from podium.workspace.budget import Budget

    __version__: str

__all__ = [
    "Budget",
    "Environment",
    "PodiumError",
    "Task",
    "grade",
    "load",
    "prepare",
    "report",
    "resume",
    "run",
    "tasks",
    "validate",
    "verify",
]

_HOMES = {
    "Budget": "podium.workspace.budget",
    "Environment": "podium.environment.environment",
    "PodiumError": "podium.errors",
    "Task": "podium.task",
    "report": "podium.report.report_document",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that the command line starts fast."""
    if name == "__version__":
        from importlib.metadata import version

        return version("podium")
    if name not in __all__:
        raise AttributeError(f"module 'podium' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(_HOMES.get(name, "podium.api")), name)
