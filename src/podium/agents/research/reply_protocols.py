"""Two ways of talking with a researcher: all in text, as in the paper, or by native tool calls."""

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
"""How much of an unusable answer the model is shown again."""


class TalkProtocol(Protocol):
    """How steps become messages, and answers become steps."""

    @property
    def stop(self) -> str | None:
        """Text that ends an answer: what follows would be invented."""
        ...

    def system(self) -> str:
        """The system message: role, actions, rules, form of the answer."""
        ...

    def tools(self) -> list[ToolInfo]: ...

    def show(self, step: ResearchStep) -> list[ChatMessage]:
        """A step that was carried out, as messages."""
        ...

    def read(self, output: ModelOutput, number: int) -> ResearchStep:
        """The step that an answer asks for.

        Raises:
            FormatError: it cannot be used.
        """
        ...

    def complain(self, output: ModelOutput, fault: str) -> list[ChatMessage]:
        """An answer that cannot be used, and why."""
        ...


@dataclass(frozen=True)
class TextProtocol:
    """Six entries in text."""

    actions: Mapping[str, ActionSpec]
    """All that can be done."""
    shown: Sequence[str]
    """The names of those that are mentioned."""
    stop: str | None = "Observation:"

    def system(self) -> str:
        actions = "\n\n".join(self.actions[name].prompt() for name in self.shown)
        form = research_prompts.TEXT_FORMAT.format(entries=research_prompts.entries_of(titles=True))
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

    def complain(self, output: ModelOutput, fault: str) -> list[ChatMessage]:
        return _complaint(output, fault)


@dataclass(frozen=True)
class ToolsProtocol:
    """Tool calls; the thinking entries are arguments that every tool has."""

    actions: Mapping[str, ActionSpec]
    shown: Sequence[str]
    stop: str | None = None

    def system(self) -> str:
        form = research_prompts.TOOLS_FORMAT.format(entries=research_prompts.entries_of(titles=False))
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
            raise FormatError("the answer calls no tool. Every answer is one call of a tool.")
        call = calls[0]
        if call.parse_error:
            raise FormatError(f"the arguments of {call.function} cannot be read: {call.parse_error[:300]}.")
        action = find_action(call.function, self.actions, self.shown)
        arguments: dict[str, Any] = dict(call.arguments)
        # Models that think elsewhere leave these out; the plan is then carried over as it was.
        thinking = {entry.name: _kept(str(arguments.pop(entry.name, ""))) for entry in ENTRIES}
        thinking["thought"] = thinking["thought"] or _kept(output.completion.strip())
        return ResearchStep(number=number, entries=thinking, action=action.name, input=check_names(arguments, action))

    def complain(self, output: ModelOutput, fault: str) -> list[ChatMessage]:
        calls = output.message.tool_calls if output.choices else None
        if not calls:
            return _complaint(output, fault)
        answers = [ChatMessageTool(content=fault, tool_call_id=call.id, function=call.function) for call in calls]
        return [output.message, *answers]


def _complaint(output: ModelOutput, fault: str) -> list[ChatMessage]:
    said = bounded(output.completion, BAD_ANSWER_CHARACTERS) or "(an empty answer)"
    return [ChatMessageAssistant(content=said), ChatMessageUser(content=fault)]


def _with_entries(tool: ToolInfo) -> ToolInfo:
    """A tool that takes the entries before its own arguments."""
    entries = {entry.name: ToolParam(type="string", description=f"{entry.title}: {entry.purpose}") for entry in ENTRIES}
    own = tool.parameters
    parameters = ToolParams(properties={**entries, **own.properties}, required=[*entries, *own.required])
    return tool.model_copy(update={"parameters": parameters})


def _kept(text: str) -> str:
    """An entry as it is remembered: without the marks of what is new, and within bounds."""
    return bounded(text.replace("**", ""), ENTRY_CHARACTERS)


PROTOCOLS: dict[str, type[TextProtocol] | type[ToolsProtocol]] = {"text": TextProtocol, "tools": ToolsProtocol}
