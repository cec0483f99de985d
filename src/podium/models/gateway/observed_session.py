"""Steps of a program inside the sandbox, derived from its model requests; works with any program.

Every request contains the whole conversation. A tool call whose result was not in an earlier request is a step, and so
is an answer without tool calls. Logs written by the program itself are not used.
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

from podium.models.gateway.gateway_server import Observer
from podium.models.token_limits import ModelUnreachableError
from podium.workspace.journal.events import Action
from podium.workspace.journal.observations import Observation, ProgramOutput, Refusal, TextResult

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, ChatMessageTool, ModelOutput
    from inspect_ai.tool import ToolCall

    from podium.models.gateway.wire_protocols import Failure

MESSAGE = "message"
"""Name of the action for an answer without tool calls."""
_EXIT_CODE = re.compile(r"(?:exit code:?|exited with code|\breturncode\"?[:>])\s*(-?\d+)", re.IGNORECASE)
_HEAD_CHARACTERS = 400
"""Characters at the start of a result in which programs report the exit code."""


class ObservedStep(NamedTuple):
    """An action of the program with its observation."""

    action: Action
    observation: Observation

    @property
    def key(self) -> str:
        """Key that is equal only for the same call with the same result."""
        return key_of(self.action, self.observation.text)


class ComputeTracker(Protocol):
    """Tracker of a program's compute phases, for leasing cores to it."""

    def thinking(self) -> AbstractAsyncContextManager[None]:
        """Return a context that is active while the model is called; the program may compute after it."""
        ...


class ObservedSession(Observer):
    """Steps of one program, from its start to its end."""

    def __init__(self, tools: Mapping[str, Mapping[str, str]]) -> None:
        """
        Args:
            tools: the program's tools and the actions they correspond to, from its preset.
        """
        self._tools = tools
        self._last: str | None = None
        self._queue: deque[ObservedStep] = deque()
        self._changed = anyio.Condition()
        self._seen: Counter[str] = Counter()
        self._is_awaited = self._has_ended = False
        self._failure: Failure | None = None
        self.computing: ComputeTracker | None = None

    def skip_to(self, last: str | None) -> None:
        """Skip the conversation up to the action with this key, which was recorded before an interruption."""
        self._last = last

    async def next(self) -> ObservedStep | None:
        """Return the next step of the program; None once it has ended.

        Raises:
            ModelUnreachableError: the model does not answer.
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
                "Nothing is lost: repeat the command with --retry to continue the run from here"
            )
        return None

    async def end(self, done: ObservedStep) -> None:
        """Record the end of the program as its last step."""
        async with self._changed:
            self._queue.append(done)
            self._has_ended = True
            self._changed.notify_all()

    @contextlib.asynccontextmanager
    async def thinking(self) -> AsyncIterator[None]:
        async with self.computing.thinking() if self.computing else contextlib.nullcontext():
            yield

    async def asked(self, messages: list[ChatMessage]) -> None:
        """Record each new tool result in the conversation as a step."""
        await self._add(self._news(messages))

    async def answered(self, output: ModelOutput) -> None:
        """Wait until all steps so far are recorded, so that each snapshot shows the workspace right after its step."""
        if not output.message.tool_calls:
            action = Action(name=MESSAGE, arguments={"text": output.message.text})
            await self._add([ObservedStep(action, TextResult(text=""))])
        async with self._changed:
            while self._queue or not self._is_awaited:
                await self._changed.wait()

    async def failed(self, failure: Failure) -> None:
        async with self._changed:
            self._failure = failure
            self._changed.notify_all()

    async def _add(self, done: list[ObservedStep]) -> None:
        async with self._changed:
            self._queue.extend(done)
            self._changed.notify_all()

    def _news(self, messages: list[ChatMessage]) -> list[ObservedStep]:
        found = [self._done(call, result) for call, result in _results(messages)]
        known = [number for number, done in enumerate(found, 1) if key_of(done.action) == self._last]
        if known:  # the conversation from before the interruption continues
            self._seen.update(done.key for done in found[: known[-1]])
            self._last = None
        news, here = [], Counter[str]()
        for done in found:
            here[done.key] += 1
            if here[done.key] > self._seen[done.key]:
                self._seen[done.key] += 1
                news.append(done)
        return news

    def _done(self, call: ToolCall, result: ChatMessageTool) -> ObservedStep:
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
        return ObservedStep(action, observation)

    def _action(self, call: ToolCall) -> Action:
        """Convert a tool call to one of our actions if its tool corresponds to one."""
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
    """Return all tool calls of a conversation that have a result, with that result."""
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
    """Return a hash that identifies an action, or a step if a result is given."""
    said = json.dumps([action.name, action.arguments, result], sort_keys=True, default=str)
    return hashlib.sha256(said.encode(errors="surrogatepass")).hexdigest()[:16]
