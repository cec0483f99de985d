"""What a program inside does with its model, as steps: read from the requests it makes, whichever program it is.

A conversation is sent whole with every request. A tool's result that was not in an earlier one is a step: the call and
what came of it. So is an answer without a call. Nothing that the program writes about itself is relied on.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import shlex
from collections import Counter, deque
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import anyio

from podium.models.gateway.endpoint import Observer
from podium.models.token_limits import ModelUnreachableError
from podium.workspace.journal.events import Action
from podium.workspace.journal.observations import Observation, ProgramOutput, Refusal, TextResult

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, ChatMessageTool, ModelOutput
    from inspect_ai.tool import ToolCall

    from podium.models.gateway.wire_protocols import Failure

MESSAGE = "message"
"""The action of an answer that calls no tool."""
_EXIT_CODE = re.compile(r"(?:exit code:?|exited with code|\breturncode\"?[:>])\s*(-?\d+)", re.IGNORECASE)
_HEAD_CHARACTERS = 400
"""Of a result: where programs say how a command ended."""


class Done(NamedTuple):
    """Something that the program has done."""

    action: Action
    observation: Observation

    @property
    def key(self) -> str:
        """The same only for the same call with the same result."""
        return key_of(self.action, self.observation.text)


class Computing(Protocol):
    """Knows when a program computes, for whoever leases cores to it."""

    def thinking(self) -> AbstractAsyncContextManager[None]:
        """While the block runs, a model is asked; after it the program may compute."""
        ...


class Session(Observer):
    """What one program does, from its start to its end."""

    def __init__(self, tools: Mapping[str, Mapping[str, str]]) -> None:
        """
        Args:
            tools: what the program's tools are, as a preset says it.
        """
        self._tools = tools
        self._last: str | None = None
        self._queue: deque[Done] = deque()
        self._changed = anyio.Condition()
        self._seen: Counter[str] = Counter()
        self._is_awaited = self._has_ended = False
        self._failure: Failure | None = None
        self.computing: Computing | None = None

    def skip_to(self, last: str | None) -> None:
        """What a conversation has up to the action of this key was recorded before an interruption."""
        self._last = last

    async def next(self) -> Done | None:
        """What the program has done next; None when it has ended.

        Raises:
            ModelUnreachableError: its model does not answer.
        """
        async with self._changed:
            self._is_awaited = True
            self._changed.notify_all()
            while not (self._queue or self._has_ended or self._failure):
                await self._changed.wait()
            self._is_awaited = False
            if self._queue:
                return self._queue.popleft()
        if self._failure is not None:
            raise ModelUnreachableError(
                f"The model gave no answer: {self._failure.message} (status {self._failure.status}). "
                "Nothing is lost: repeat the command with --retry and the run goes on from here"
            )
        return None

    async def end(self, done: Done) -> None:
        """The program has ended, which is its last step."""
        async with self._changed:
            self._queue.append(done)
            self._has_ended = True
            self._changed.notify_all()

    @contextlib.asynccontextmanager
    async def thinking(self) -> AsyncIterator[None]:
        async with self.computing.thinking() if self.computing else contextlib.nullcontext():
            yield

    async def asked(self, messages: list[ChatMessage]) -> None:
        """Every result that was not there before is a step."""
        await self._add(self._news(messages))

    async def answered(self, output: ModelOutput) -> None:
        """Waits until all steps so far are recorded, so that the snapshot of each is that of its own moment."""
        if not output.message.tool_calls:
            action = Action(name=MESSAGE, arguments={"text": output.message.text})
            await self._add([Done(action, TextResult(text=""))])
        async with self._changed:
            while self._queue or not self._is_awaited:
                await self._changed.wait()

    async def failed(self, failure: Failure) -> None:
        async with self._changed:
            self._failure = failure
            self._changed.notify_all()

    async def _add(self, done: list[Done]) -> None:
        async with self._changed:
            self._queue.extend(done)
            self._changed.notify_all()

    def _news(self, messages: list[ChatMessage]) -> list[Done]:
        found = [self._done(call, result) for call, result in _results(messages)]
        known = [number for number, done in enumerate(found, 1) if key_of(done.action) == self._last]
        if known:  # the conversation of before the interruption goes on
            self._seen.update(done.key for done in found[: known[-1]])
            self._last = None
        news, here = [], Counter[str]()
        for done in found:
            here[done.key] += 1
            if here[done.key] > self._seen[done.key]:
                self._seen[done.key] += 1
                news.append(done)
        return news

    def _done(self, call: ToolCall, result: ChatMessageTool) -> Done:
        action = self._action(call)
        text = result.text
        observation: Observation
        if action.name == "run_command":
            code = _EXIT_CODE.search(text[:_HEAD_CHARACTERS])
            exit_code = int(code[1]) if code else int(result.error is not None)
            observation = ProgramOutput(exit_code=exit_code, stdout=text or _message(result))
        elif result.error is not None:
            observation = Refusal(text=text or _message(result))
        else:
            observation = TextResult(text=text)
        return Done(action, observation)

    def _action(self, call: ToolCall) -> Action:
        """A tool call in the words of our own actions, where the tool is one of them."""
        words = dict(self._tools.get(call.function, {}))
        name = words.pop("action", call.function)
        arguments: dict[str, Any] = dict(call.arguments)
        for ours, theirs in words.items():
            if theirs in arguments:
                arguments[ours] = arguments.pop(theirs)
        if isinstance(command := arguments.get("command"), list):
            is_shell = len(command) == 3 and command[1] in ("-c", "-lc")
            arguments["command"] = str(command[2]) if is_shell else shlex.join(map(str, command))
        return Action(name=name, arguments=arguments)


def _results(messages: list[ChatMessage]) -> list[tuple[ToolCall, ChatMessageTool]]:
    """All calls of a conversation that have a result, with it."""
    calls: dict[str, ToolCall] = {}
    found = []
    for message in messages:
        if message.role == "assistant":
            calls |= {call.id: call for call in message.tool_calls or ()}
        elif message.role == "tool" and message.tool_call_id in calls:
            found.append((calls[message.tool_call_id], message))
    return found


def _message(result: ChatMessageTool) -> str:
    return "" if result.error is None else result.error.message


def key_of(action: Action, result: str = "") -> str:
    """Tells actions apart, or steps."""
    said = json.dumps([action.name, action.arguments, result], sort_keys=True, default=str)
    return hashlib.sha256(said.encode(errors="surrogatepass")).hexdigest()[:16]
