"""The agents: whatever produces a submission. `AGENTS` finds them by name without importing the others."""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Any

from podium.errors import UsageError

if TYPE_CHECKING:
    from podium.agents.base import Agent, Assignment

AGENTS = {
    "recipes": "Writes machine-learning scripts from a library of recipes, and needs no model.",
    "aide": "Tree search by a model: drafts, then mends and improves the best (greedy, as AIDE).",
    "mcts": "Tree search by a model, guided by upper confidence bounds (Monte Carlo, as AIRA).",
    "evolve": "A population of a model's scripts, improved and merged by fitness (as AIRA).",
    "baseline": "Submits the sample submission, or runs the starter code as it stands.",
    "scripted": "Repeats a list of actions from a file, such as those of another run.",
    "research": "MLAgentBench's agent: reflects, plans, checks facts, acts, and keeps a research log.",
    "react": "Lets a model call tools, a shell among them, until it has its final answer.",
    "command": "Runs any program inside the sandbox, such as an MLE-bench agent.",
    "human": "A person in a shell inside the sandbox, timed. Open it with: podium shell RUN",
}


def agent_class(name: str) -> type[Agent[Any]]:
    """The agent of that name.

    Raises:
        UsageError: there is none.
    """
    if name not in AGENTS:
        close = get_close_matches(name, AGENTS, n=1)
        hint = f"Did you mean '{close[0]}'?" if close else f"The agents are: {', '.join(AGENTS)}."
        raise UsageError(f"There is no agent '{name}'. {hint}")
    found: type[Agent[Any]] = import_module(f"podium.agents.{name}").agent
    return found


def make_agent(name: str, options: dict[str, str], assignment: Assignment) -> Agent[Any]:
    """An agent with its options, which come as text from the command line."""
    return agent_class(name)(assignment, read_options(name, options))


def read_options(name: str, options: dict[str, str]) -> Any:
    """An agent's options, checked.

    Raises:
        UsageError: one is unknown, missing or not what it should be.
    """
    from pydantic import ValidationError

    kind = agent_class(name).Options
    unknown = [option for option in options if option not in kind.model_fields]
    if unknown:
        known = ", ".join(kind.model_fields) or "none"
        raise UsageError(f"The agent '{name}' has no option '{unknown[0]}'. Its options are: {known}")
    try:
        return kind.model_validate(options)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "options"
        raise UsageError(f"-A {place}: {first['msg']} (agent '{name}')") from error
