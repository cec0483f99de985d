"""Reply protocols of the research agent: entries in text, as in the paper, or native tool calls."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageTool,
    ChatMessageUser,
    ModelOutput,
)
from inspect_ai.tool import ToolCall, ToolInfo, ToolParam, ToolParams

from podium.actions import ActionSpec
from podium.agents.research import research_prompts
from podium.agents.research.parse_reply import FormatError, check_names, find_action, read_entries, read_input
from podium.agents.research.researcher_memory import ENTRIES, ResearchStep
from podium.text import bounded, valid_unicode

ENTRY_CHARACTERS = 6_000
BAD_ANSWER_CHARACTERS = 6_000
"""Length of an unusable answer that is shown to the model again."""


class ReplyProtocol(Protocol):
    """Conversion of steps to messages and of answers to steps."""

    @property
    def stop(self) -> str | None:
        """Return the stop sequence, after which the model would invent an observation."""
        ...

    def system(self) -> str:
        """Return the system message: role, actions, rules and answer format."""
        ...

    def tools(self) -> list[ToolInfo]: ...

    def show(self, step: ResearchStep) -> list[ChatMessage]:
        """Return a completed step as messages."""
        ...

    def read(self, output: ModelOutput, number: int) -> ResearchStep:
        """Return the step that an answer requests.

        Raises:
            FormatError: the answer is unusable.
        """
        ...

    def correction(self, output: ModelOutput, fault: str) -> list[ChatMessage]:
        """Return an unusable answer and the reason as messages."""
        ...


@dataclass(frozen=True)
class TextProtocol:
    """Protocol with six entries in text."""

    actions: Mapping[str, ActionSpec]
    """All available actions."""
    shown: Sequence[str]
    """Names of the actions that the prompt mentions."""
    stop: str | None = "Observation:"

    def system(self) -> str:
        actions = "\n\n".join(self.actions[name].prompt() for name in self.shown)
        form = research_prompts.TEXT_FORMAT.format(entries=research_prompts.format_entries(titles=True))
        return "\n\n".join([research_prompts.ROLE, f"THE ACTIONS\n\n{actions}", research_prompts.RULES, form])

    def tools(self) -> list[ToolInfo]:
        return []

    def show(self, step: ResearchStep) -> list[ChatMessage]:
        lines = [f"{entry.title}: {step.entries.get(entry.name, '')}" for entry in ENTRIES]
        lines.append(f"Action: {self.actions[step.action].title}")
        lines.append(f"Action Input: {json.dumps(step.input, indent=4, ensure_ascii=False)}")
        said, seen = "\n".join(lines), f"Observation:\n{step.observation}"
        return [ChatMessageAssistant(content=said), ChatMessageUser(content=seen)]

    def read(self, output: ModelOutput, number: int) -> ResearchStep:
        entries = read_entries(output.completion)
        action = find_action(entries["Action"].split("\n")[0], self.actions, self.shown)
        return ResearchStep(
            number=number,
            entries={entry.name: _kept(entries[entry.title]) for entry in ENTRIES},
            action=action.name,
            input=valid_unicode(read_input(entries["Action Input"], action)),
        )

    def correction(self, output: ModelOutput, fault: str) -> list[ChatMessage]:
        return _correction(output, fault)


@dataclass(frozen=True)
class ToolsProtocol:
    """Protocol with tool calls, in which the thinking entries are arguments of every tool."""

    actions: Mapping[str, ActionSpec]
    shown: Sequence[str]
    stop: str | None = None

    def system(self) -> str:
        form = research_prompts.TOOLS_FORMAT.format(entries=research_prompts.format_entries(titles=False))
        return "\n\n".join([research_prompts.ROLE, research_prompts.RULES, form])

    def tools(self) -> list[ToolInfo]:
        return [_with_entries(self.actions[name].tool_info()) for name in self.shown]

    def show(self, step: ResearchStep) -> list[ChatMessage]:
        call = ToolCall(id=f"step_{step.number}", function=step.action, arguments={**step.entries, **step.input})
        answer = ChatMessageTool(content=step.observation, tool_call_id=call.id, function=call.function)
        return [ChatMessageAssistant(content="", tool_calls=[call]), answer]

    def read(self, output: ModelOutput, number: int) -> ResearchStep:
        calls = output.message.tool_calls if output.choices else None
        if not calls:
            raise FormatError("The answer has no tool call. Every answer must be exactly one tool call.")
        call = calls[0]
        if call.parse_error:
            raise FormatError(f"The arguments of {call.function} cannot be parsed: {call.parse_error[:300]}.")
        action = find_action(call.function, self.actions, self.shown)
        arguments: dict[str, Any] = dict(call.arguments)
        # Reasoning models often omit these; the plan then stays as it was.
        thinking = {entry.name: _kept(str(arguments.pop(entry.name, ""))) for entry in ENTRIES}
        thinking["thought"] = thinking["thought"] or _kept(output.completion.strip())
        return ResearchStep(number=number, entries=thinking, action=action.name, input=check_names(arguments, action))

    def correction(self, output: ModelOutput, fault: str) -> list[ChatMessage]:
        calls = output.message.tool_calls if output.choices else None
        if not calls:
            return _correction(output, fault)
        answers = [ChatMessageTool(content=fault, tool_call_id=call.id, function=call.function) for call in calls]
        return [output.message, *answers]


def _correction(output: ModelOutput, fault: str) -> list[ChatMessage]:
    said = bounded(output.completion, BAD_ANSWER_CHARACTERS) or "(an empty answer)"
    return [ChatMessageAssistant(content=said), ChatMessageUser(content=fault)]


def _with_entries(tool: ToolInfo) -> ToolInfo:
    """Return a tool that takes the entries before its own arguments."""
    entries = {entry.name: ToolParam(type="string", description=f"{entry.title}: {entry.purpose}") for entry in ENTRIES}
    own = tool.parameters
    parameters = ToolParams(properties={**entries, **own.properties}, required=[*entries, *own.required])
    return tool.model_copy(update={"parameters": parameters})


def _kept(text: str) -> str:
    """Return an entry for the memory: without asterisks and of bounded length."""
    return bounded(text.replace("**", ""), ENTRY_CHARACTERS)


PROTOCOLS: dict[str, type[TextProtocol] | type[ToolsProtocol]] = {"text": TextProtocol, "tools": ToolsProtocol}
