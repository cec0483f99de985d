"""Which agents fit which tasks: checked before anything starts, and chosen where nobody names an agent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from podium.agents import agent_class, agent_names
from podium.errors import UsageError

if TYPE_CHECKING:
    from podium.agents.base import SubmissionKind
    from podium.task import Task


def default_agent(task: Task) -> str:
    """The agent that works on a task when nobody names one; it needs no model."""
    if task.starter is not None:
        return "edits"  # it never ends worse than the starter; recipes, which start from nothing, may
    return "recipes" if task.is_table else "baseline"


def choose_agent(tasks: Sequence[Task]) -> str:
    """The agent for all of some tasks when nobody names one: a default of one of them that fits the others too.

    Raises:
        UsageError: no default fits all of them.
    """
    defaults = {default_agent(task): task for task in tasks}
    for name in defaults:
        if not any(misfit(name, task) for task in tasks):
            return name
    wishes = ", ".join(f"{name} for {task.id}" for name, task in defaults.items())
    raise UsageError(f"No agent suits all of these tasks ({wishes}). Name one with --agent, or run them separately.")


def check_fit(name: str, tasks: Sequence[Task]) -> None:
    """Refuses tasks that an agent cannot work on.

    Raises:
        UsageError: it cannot work on one of them; names the agents that can.
    """
    for task in tasks:
        if reason := misfit(name, task):
            fitting = [other for other in agent_names() if _fits(other, task)]
            raise UsageError(
                f"The agent '{name}' cannot work on {task.id}: {reason}. Agents that can: {', '.join(fitting)}. "
                f"Without --agent, {default_agent(task)} is used."
            )


def _fits(name: str, task: Task) -> bool:
    try:
        return misfit(name, task) is None
    except UsageError:  # a package that is broken
        return False


def misfit(name: str, task: Task) -> str | None:
    """Why an agent cannot work on a task; None if it can."""
    if agent_class(name).needs_starter and task.starter is None:
        return "it improves starter code, and the task has none"
    kind: SubmissionKind = "table" if task.is_table else "files"
    if kind in agent_class(name).submits:
        return None
    return f"it submits a table, and the task asks for files ({', '.join(task.submission.names)})"
