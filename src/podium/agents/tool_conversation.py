"""Conversation with a model that calls tools, stored as JSON and kept within the context window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from podium.text import bounded

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, ChatMessageAssistant
    from inspect_ai.tool import ToolCall

HEAD = 2
"""Number of messages that are always kept: the system message and the brief."""
KEPT_OBSERVATIONS = 2
SLACK = 0.7
"""Share of the context window that a shortened conversation may fill, so that not every turn shortens it again."""
_LEFT_OUT = "[An observation of {:,} characters was removed here to save space.]"


class Conversation:
    """Chat messages, starting with the system message and the brief."""

    def __init__(self, messages: list[ChatMessage], left_out: int) -> None:
        self._messages = messages
        self.left_out = left_out
        """Number of oldest turns that were dropped."""

    @classmethod
    def begin(cls, system: str, brief: str) -> Conversation:
        from inspect_ai.model import ChatMessageSystem, ChatMessageUser

        return cls([ChatMessageSystem(content=system, id="system"), ChatMessageUser(content=brief, id="brief")], 0)

    @classmethod
    def load(cls, documents: Sequence[dict[str, Any]], left_out: int) -> Conversation:
        from inspect_ai.model import ChatMessage
        from pydantic import TypeAdapter

        return cls(TypeAdapter(list[ChatMessage]).validate_python(list(documents)), left_out)

    def dump(self) -> list[dict[str, Any]]:
        return [message.model_dump(mode="json", exclude_none=True) for message in self._messages]

    def messages(self, *, note: str) -> list[ChatMessage]:
        """Return the messages to send. The note comes last and is not stored."""
        from inspect_ai.model import ChatMessageUser

        head, rest = self._messages[:HEAD], self._messages[HEAD:]
        gap = f"[{self.left_out} earlier turns were removed to save space.]" if self.left_out else ""
        middle = [ChatMessageUser(content=gap)] if gap else []
        return [*head, *middle, *rest, ChatMessageUser(content=note)]

    @property
    def unanswered(self) -> list[ToolCall]:
        """Return the tool calls of the last answer that have no result yet."""
        for results, message in enumerate(reversed(self._messages)):
            if message.role == "assistant":
                return list(message.tool_calls or [])[results:]
            if message.role != "tool":
                return []
        return []

    def add(self, message: ChatMessageAssistant) -> None:
        self._messages.append(message)

    def add_note(self, text: str) -> None:
        """Add a message of the user."""
        from inspect_ai.model import ChatMessageUser

        self._messages.append(ChatMessageUser(content=text))

    def answer(self, call: ToolCall, text: str) -> None:
        """Add the result of a tool call."""
        from inspect_ai.model import ChatMessageTool

        # A deterministic id instead of a random one: equal observations make equal states.
        name = f"{len(self._messages) + self.left_out}-{call.id}"
        self._messages.append(
            ChatMessageTool(content=text, tool_call_id=call.id, function=call.function, id=name),
        )

    def shorten(self, characters: int) -> None:
        """Drop the oldest messages until the conversation fits into the context window."""
        if self._size() <= characters:
            return
        limit = int(characters * SLACK)
        self._drop_observations(limit)
        while self._size() > limit and (end := self._first_turn()) is not None:
            del self._messages[HEAD:end]
            self.left_out += 1
        self._cut(limit)

    def _size(self) -> int:
        return sum(_length(message) for message in self._messages)

    def _drop_observations(self, limit: int) -> None:
        places = [place for place, message in enumerate(self._messages) if message.role == "tool"]
        for place in places[:-KEPT_OBSERVATIONS]:
            if self._size() <= limit:
                return
            message = self._messages[place]
            line = _LEFT_OUT.format(len(message.text))
            if len(line) < len(message.text):
                self._messages[place] = message.model_copy(update={"content": line})

    def _first_turn(self) -> int | None:
        """Return the index after the oldest turn, or None if it is the only one."""
        starts = [place for place, message in enumerate(self._messages) if message.role == "assistant"]
        return starts[1] if len(starts) > 1 else None

    def _cut(self, limit: int) -> None:
        """Shorten the remaining messages in the middle, the longest first."""
        while self._size() > limit:
            place = max(range(1, len(self._messages)), key=lambda place: len(self._messages[place].text))
            text = self._messages[place].text
            if len(text) < 1_000:
                return  # the length is in tool calls, and the model's provider will refuse the request
            self._messages[place] = self._messages[place].model_copy(update={"content": bounded(text, len(text) // 2)})


def _length(message: ChatMessage) -> int:
    calls = (message.tool_calls or []) if message.role == "assistant" else []
    return len(message.text) + sum(len(str(call.arguments)) for call in calls) + 20
