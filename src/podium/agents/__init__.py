"""Registry of agents, the programs that produce submissions. An agent is imported only when it is used.

Other packages register agents in the entry-point group `podium.agents`; `package.module:Class` names any other class.
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
"""Import paths of Podium's own agents by name, without the presets of coding agents."""


def _built_in() -> dict[str, str]:
    from podium.agents.coding.presets import preset_names

    return {**AGENTS, **{name: f"podium.agents.coding.presets:{name}" for name in preset_names()}}


def agent_names() -> list[str]:
    """Return the names of all agents, including those of installed packages."""
    return list(plugins.offered("agents", _built_in()))


def agent_class(name: str) -> type[Agent[Any]]:
    """Return the class of an agent.

    Raises:
        UsageError: the agent does not exist, or the class is not an agent.
    """
    from podium.agents.base import Agent

    found = plugins.find("agents", name, _built_in())
    if not (isinstance(found, type) and issubclass(found, Agent)):
        raise UsageError(f"'{name}' is not an agent: its class does not inherit from podium.agents.base.Agent.")
    return found


def read_options(name: str, options: dict[str, str]) -> Any:
    """Parse and validate an agent's options, given as text on the command line.

    Raises:
        UsageError: an option is unknown, missing or invalid.
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
            raise UsageError(f"The agent '{name}' requires -A {place}=VALUE. See: podium agents {name}") from error
        raise UsageError(
            f"The option -A {place} of the agent '{name}' is invalid: {first['msg']}. See: podium agents {name}"
        ) from error


def make_agent(name: str, options: dict[str, str], assignment: Assignment) -> Agent[Any]:
    """Create an agent with its options for a task."""
    return agent_class(name)(assignment, read_options(name, options))


def check_agent(name: str, options: dict[str, str], *, has_model: bool, roles: Iterable[str] = ()) -> None:
    """Raise an error if an agent cannot run with these options, before anything is started.

    Args:
        roles: the roles that have a model of their own.

    Raises:
        UsageError: the agent, an option or a role is unknown, or the agent needs a model and has none.
    """
    agent = agent_class(name)
    read_options(name, options)
    _require_known(name, "role", roles, agent.roles)
    if agent.needs_model and not has_model:
        raise UsageError(f"The agent '{name}' needs a model. Add --model, for example --model openai/gpt-4o")


def _require_known(agent: str, term: str, names: Iterable[str], known: Iterable[str]) -> None:
    unknown = [name for name in names if name not in known]
    if unknown:
        available = ", ".join(known) or "none"
        raise UsageError(f"The agent '{agent}' has no {term} '{unknown[0]}'. Available {term}s: {available}")
