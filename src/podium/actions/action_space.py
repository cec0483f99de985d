"""The action space: every action by name, and `perform`, which runs one."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from podium.actions import execution, final_answer, research_log, script_trials
from podium.actions.action_context import ActionContext
from podium.actions.action_spec import ActionSpec
from podium.actions.files import edit_script, file_actions, understand_file
from podium.actions.python import python_session
from podium.text import bounded
from podium.workspace.journal.observations import Observation, Refusal

if TYPE_CHECKING:
    from inspect_ai.tool import Tool

_MODULES = (
    file_actions,
    execution,
    python_session,
    edit_script,
    understand_file,
    research_log,
    script_trials,
    final_answer,
)
ACTIONS: Mapping[str, ActionSpec] = MappingProxyType(
    {spec.name: spec for module in _MODULES for spec in vars(module).values() if isinstance(spec, ActionSpec)}
)
"""Every action by name, in the order of their modules."""


def offered(context: ActionContext) -> dict[str, ActionSpec]:
    """Return the actions for which the context provides everything they need."""
    return {name: spec for name, spec in ACTIONS.items() if not spec.needs or getattr(context, spec.needs) is not None}


def tools(context: ActionContext | None = None) -> dict[str, Tool]:
    """Return the actions as Inspect tools by name; without a context, for the sandbox of the current sample."""
    place = context or ActionContext()
    return {name: spec.as_tool(place) for name, spec in offered(place).items()}


async def perform(
    name: str, arguments: object, context: ActionContext, actions: Mapping[str, ActionSpec] | None = None
) -> Observation:
    """Perform an action and return its observation; the name and the arguments may be anything a model wrote.

    Args:
        name: an action's name or display name.
        arguments: its arguments, as read from JSON; numbers may be strings.
        actions: the agent's actions by name; by default all that the context offers.
    """
    known = offered(context) if actions is None else actions
    for spec in known.values():
        if spec.is_called(name):
            return await spec.perform(context, arguments)
    names = ", ".join(f"{spec.title} ({spec.name})" for spec in known.values())
    return Refusal(text=f"There is no action {bounded(name, 100)!r}. The available actions are: {names}.")
