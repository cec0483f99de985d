"""Default agent of a task, and checks that an agent suits a task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from podium.agents import agent_class, agent_names
from podium.errors import UsageError

if TYPE_CHECKING:
    from podium.agents.base import SubmissionKind
    from podium.task import Task


def default_agent(task: Task) -> str:
    """Return the default agent of a task, which needs no model."""
    if task.starter is not None:
        return "edits"  # never ends worse than the starter code, unlike `recipes`, which starts from scratch
    return "recipes" if task.is_table else "baseline"


def choose_agent(tasks: Sequence[Task]) -> str:
    """Return the default agent of one of the tasks that suits all of them.

    Raises:
        UsageError: no default agent suits all tasks.
    """
    defaults = {default_agent(task): task for task in tasks}
    for name in defaults:
        if not any(mismatch_reason(name, task) for task in tasks):
            return name
    choices = ", ".join(f"{name} for {task.id}" for name, task in defaults.items())
    raise UsageError(
        f"No default agent suits all of these tasks ({choices}). Choose one with --agent NAME, or run the tasks "
        "separately."
    )


def check_fit(name: str, tasks: Sequence[Task]) -> None:
    """Raise an error if an agent cannot work on all of the tasks.

    Raises:
        UsageError: the agent cannot work on a task; the message lists the agents that can.
    """
    for task in tasks:
        if reason := mismatch_reason(name, task):
            fitting = [other for other in agent_names() if _fits(other, task)]
            raise UsageError(
                f"The agent '{name}' cannot work on {task.id}: {reason}. Suitable agents: {', '.join(fitting)}. "
                f"The default agent of this task is {default_agent(task)}."
            )


def _fits(name: str, task: Task) -> bool:
    try:
        return mismatch_reason(name, task) is None
    except UsageError:  # a plug-in that cannot be imported
        return False


def mismatch_reason(name: str, task: Task) -> str | None:
    """Return the reason why an agent cannot work on a task, or None if it can."""
    if agent_class(name).needs_starter and task.starter is None:
        return "it improves starter code, and this task has none"
    kind: SubmissionKind = "table" if task.is_table else "files"
    if kind in agent_class(name).submits:
        return None
    return f"it submits a table, and this task requires files ({', '.join(task.submission.names)})"
