"""The agents: whatever produces a submission. They are found by name, and only those asked for are imported.

Other packages offer agents in the entry-point group `podium.agents`; `package.module:Class` names any other.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from podium import plugins
from podium.errors import UsageError

if TYPE_CHECKING:
    from podium.agents.base import Agent, Assignment

AGENTS = {
    "recipes": "podium.agents.recipes_agent:Recipes",
    "edits": "podium.agents.edits.edits_agent:Edits",
    "aide": "podium.agents.search.algorithms:Aide",
    "mcts": "podium.agents.search.algorithms:Mcts",
    "evolve": "podium.agents.search.algorithms:Evolve",
    "frontier": "podium.agents.search.algorithms:Frontier",
    "baseline": "podium.agents.baseline:BaselineAgent",
    "scripted": "podium.agents.scripted:Scripted",
    "research": "podium.agents.research.researcher:Researcher",
    "react": "podium.agents.react:React",
    "command": "podium.agents.command:Command",
    "human": "podium.agents.human.human_agent:Human",
}
"""Podium's own, by name; the presets of coding agents come on top."""


def _built_in() -> dict[str, str]:
    from podium.agents.coding.presets import preset_names

    return {**AGENTS, **{name: f"podium.agents.coding.presets:{name}" for name in preset_names()}}


def agent_names() -> list[str]:
    """The names of all agents, those of installed packages included."""
    return list(plugins.offered("agents", _built_in()))


def agent_class(name: str) -> type[Agent[Any]]:
    """The agent of that name.

    Raises:
        UsageError: there is none, or it is not an agent.
    """
    from podium.agents.base import Agent

    found = plugins.find("agents", name, _built_in())
    if not (isinstance(found, type) and issubclass(found, Agent)):
        raise UsageError(f"'{name}' is not an agent: it does not inherit from podium.agents.base.Agent")
    return found


def read_options(name: str, options: dict[str, str]) -> Any:
    """An agent's options, which come as text from the command line, checked.

    Raises:
        UsageError: one is unknown, missing or not what it should be.
    """
    from pydantic import ValidationError

    kind = agent_class(name).Options
    _require_known(name, "option", options, kind.model_fields)
    try:
        return kind.model_validate(options)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "options"
        if first["type"] == "missing":
            raise UsageError(f"The agent '{name}' needs -A {place}=... See: podium agents {name}") from error
        raise UsageError(f"-A {place}: {first['msg']} (agent '{name}')") from error


def make_agent(name: str, options: dict[str, str], assignment: Assignment) -> Agent[Any]:
    """An agent with its options on its task."""
    return agent_class(name)(assignment, read_options(name, options))


def check_agent(name: str, options: dict[str, str], *, has_model: bool, roles: Iterable[str] = ()) -> None:
    """Refuses what an agent cannot be run with, before anything is started.

    Args:
        roles: those that are given models of their own.

    Raises:
        UsageError: the agent, an option or a role is unknown, or there is no model for an agent that needs one.
    """
    agent = agent_class(name)
    read_options(name, options)
    _require_known(name, "role", roles, agent.roles)
    if agent.needs_model and not has_model:
        raise UsageError(f"The agent '{name}' needs a model. Add --model, for example --model openai/gpt-4o")


def _require_known(agent: str, what: str, given: Iterable[str], known: Iterable[str]) -> None:
    unknown = [name for name in given if name not in known]
    if unknown:
        names = ", ".join(known) or "none"
        raise UsageError(f"The agent '{agent}' has no {what} '{unknown[0]}'. Its {what}s are: {names}")
