"""Every agent keeps what runs rely on, and the check notices agents that do not."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from random import random
from typing import Any

import pytest
from inspect_ai.model import ChatMessage, ModelOutput
from inspect_ai.tool import ToolInfo
from pydantic import Field

from podium.agents import AGENTS, agent_class
from podium.agents.agent_conformance import check
from podium.agents.base import Agent, Options, State
from podium.workspace.journal.events import Action
from podium.workspace.journal.observations import Observation

PLAN: list[tuple[str, dict[str, Any]]] = [
    ("list_files", {"dir_path": "."}),
    ("write_file", {"file_name": "a.py", "content": "print(1)"}),
    ("execute_script", {"script_name": "a.py"}),
    ("final_answer", {"final_answer": "done"}),
]
THINKING = {"reflection": "-", "plan": "Go on.", "fact_check": "-", "thought": "Next."}


def coder(messages: Sequence[ChatMessage], tools: Sequence[ToolInfo]) -> str:
    return "Guess.\n```python\nprint('podium-metric: 0.5')\n```\n"


def caller(messages: Sequence[ChatMessage], tools: Sequence[ToolInfo]) -> ModelOutput:
    """Calls the next tool of the plan, knowing how many it has called from the conversation alone."""
    name, arguments = PLAN[min(sum(message.role == "tool" for message in messages), len(PLAN) - 1)]
    known = next(tool for tool in tools if tool.name == name).parameters.properties
    thinking = {key: text for key, text in THINKING.items() if key in known}
    return ModelOutput.for_tool_call("mockllm", name, {**thinking, **arguments})


def researcher(messages: Sequence[ChatMessage], tools: Sequence[ToolInfo]) -> str:
    if messages[0].role != "system":
        return "Noted."
    name, arguments = PLAN[min(sum("Observation:" in message.text for message in messages[1:]), len(PLAN) - 1)]
    return (
        "Reflection: -\nResearch Plan and Status: Go on.\nFact Check: -\nThought: Next.\n"
        f"Action: {name}\nAction Input: {json.dumps(arguments)}\n"
    )


ANSWERS: dict[str, Any] = {
    **dict.fromkeys(("aide", "mcts", "evolve", "frontier"), coder),
    "react": caller,
    "research": researcher,
}


@pytest.mark.parametrize("name", AGENTS)
def test_every_agent_keeps_its_promises(name: str, tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps([{"action": action, "arguments": arguments} for action, arguments in PLAN]))
    options = {"scripted": {"script": str(script)}, "command": {"command": "true"}}.get(name, {})
    decided = check(agent_class(name), options=options, answer=ANSWERS.get(name))
    if name in ("scripted", "react", "research"):
        assert [action.name for action in decided] == [action for action, _ in PLAN]
    assert decided


def test_agents_bear_a_model_that_is_of_no_use() -> None:
    for name in ("aide", "react", "research"):
        assert check(agent_class(name))


def test_several_actions_at_a_time_are_looked_at_together() -> None:
    decided = check(agent_class("research"), options={"retrieval": "true"}, answer=researcher)
    assert "append_summary_to_research_log" in [action.name for action in decided]
    assert check(agent_class("aide"), options={"parallel": "3"}, answer=coder)


class CountingState(State):
    count: int = 0


class Counting(Agent[CountingState]):
    """Does the same thing three times."""

    State = CountingState

    async def decide(self, state: CountingState) -> Sequence[Action]:
        return [Action(name="list_files")] if state.count < 3 else []

    def observe(
        self, state: CountingState, actions: Sequence[Action], observations: Sequence[Observation]
    ) -> CountingState:
        return CountingState(count=state.count + 1)


class Silent(Counting):
    __doc__ = None


class Undescribed(Counting):
    """Has an option without a description."""

    class Options(Options):
        size: int = 1


class Remembering(Counting):
    """Keeps in itself what belongs into its state."""

    asked = 0

    async def decide(self, state: CountingState) -> Sequence[Action]:
        self.asked += 1
        return [Action(name="list_files", arguments={"dir_path": f"{self.asked}"})]


class Guessing(Counting):
    """Decides by chance."""

    async def decide(self, state: CountingState) -> Sequence[Action]:
        return [Action(name="read_file", arguments={"file_name": str(random())})]


class Changing(Counting):
    """Changes the state it observes in."""

    def observe(self, state: CountingState, actions: Any, observations: Any) -> CountingState:
        state.count += 1
        return state.model_copy()


class Careless(Counting):
    """Uses actions in a wrong way."""

    async def decide(self, state: CountingState) -> Sequence[Action]:
        return [Action(name="read_file", arguments={"path": "a"})]


class Inventing(Counting):
    """Uses actions that do not exist."""

    async def decide(self, state: CountingState) -> Sequence[Action]:
        return [Action(name="fly")]


class Trusting(Counting):
    """Takes every observation for a success."""

    async def decide(self, state: CountingState) -> Sequence[Action]:
        return [Action(name="validate_submission")]

    def observe(self, state: CountingState, actions: Any, observations: Any) -> CountingState:
        return CountingState(count=state.count + observations[0].valid)


class ForgettingState(State):
    count: int = 0
    secret: int = Field(0, exclude=True)


class Forgetting(Counting):
    """Has a state that is not saved whole."""

    State = ForgettingState

    def begin(self) -> Any:
        return ForgettingState(secret=1)


@pytest.mark.parametrize(
    ("agent", "fault"),
    [
        (Silent, "no docstring"),
        (Undescribed, "option 'size' has no description"),
        (Remembering, "decide\\(\\) returns different actions"),
        (Guessing, "decide\\(\\) returns different actions"),
        (Changing, "observe\\(\\) modifies the state"),
        (Careless, "would be refused: Read File was not performed: the input lacks file_name"),
        (Inventing, "no action 'fly'"),
        (Forgetting, "the state changes when it is saved"),
    ],
)
def test_broken_promises_are_named(agent: type[Agent[Any]], fault: str) -> None:
    with pytest.raises(AssertionError, match=fault):
        check(agent)


def test_what_an_agent_raises_is_shown_as_it_is() -> None:
    with pytest.raises(AttributeError, match="valid"):
        check(Trusting)


def test_an_honest_agent_passes() -> None:
    assert check(Counting) == [Action(name="list_files")] * 3
