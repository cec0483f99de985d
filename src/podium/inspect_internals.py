"""What Podium uses of the private parts of Inspect AI: nothing else in Podium imports `inspect_ai._*` or the like.

Everything is imported where it is needed, because Inspect takes seconds to import.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol

from podium.errors import MissingExtraError, PodiumError

if TYPE_CHECKING:
    from inspect_ai.agent._bridge.types import AgentBridge
    from inspect_ai.model import ChatMessage, Model, ModelOutput, ModelUsage
    from inspect_ai.util import SandboxEnvironment
    from pydantic import BaseModel

IMPORTED_LATE = ("inspect_ai.agent._acp.server", "inspect_ai.model._providers.none")
"""Modules that Inspect imports only in the middle of an evaluation."""
CLIENTS_OF_MODELS = ("inspect_ai.model._openai_responses", "inspect_ai.model._providers.anthropic")
"""Modules that it imports then too, of which an evaluation without a model needs none."""


def prerequisite_error(message: str) -> Exception:
    """An error that Inspect shows to its user as one sentence, without a traceback."""
    from inspect_ai._util.error import PrerequisiteError

    return PrerequisiteError(message)


@contextmanager
def without_clients_of_models() -> Iterator[None]:
    """While the block runs, evaluations do not load the clients of OpenAI and Anthropic, which takes two seconds.

    For evaluations without a model alone: of others those clients keep what a sample's messages cannot hold.
    """
    from inspect_ai.model import _assistant_internal as internal

    installed = {name: value for name, value in vars(internal).items() if name in ("_HAS_OPENAI", "_HAS_ANTHROPIC")}
    vars(internal).update(dict.fromkeys(installed, False))
    try:
        yield
    finally:
        vars(internal).update(installed)


@contextmanager
def as_sample(sandbox: SandboxEnvironment) -> Iterator[None]:
    """While the block runs, its task has a sandbox and counts what it uses as a sample would, without an evaluation."""
    from inspect_ai._util.working import init_sample_working_time
    from inspect_ai.log._transcript import Transcript, init_transcript
    from inspect_ai.model._model import init_sample_model_usage
    from inspect_ai.util import (
        apply_limits,
        cost_limit,
        message_limit,
        time_limit,
        token_limit,
        turn_limit,
        working_limit,
    )
    from inspect_ai.util._sandbox.context import sandbox_default_context_var, sandbox_environments_context_var

    sandbox_environments_context_var.set({"default": sandbox})
    sandbox_default_context_var.set("default")
    init_sample_working_time(time.monotonic())
    init_sample_model_usage()
    init_transcript(Transcript(bounded=True))
    limits = (token_limit, cost_limit, message_limit, turn_limit, working_limit, time_limit)
    with apply_limits([limit(None) for limit in limits]):
        yield


def sample_model_usage() -> dict[str, ModelUsage]:
    """What the models of the current sample have used so far, by their names."""
    from inspect_ai.model._model import sample_model_usage

    return sample_model_usage()


def watch_model_calls(note: Callable[[str, Any, Any], None]) -> None:
    """Has every request of the current sample that a model answers noted: the model, what was sent, what came back."""
    from inspect_ai.event import ModelEvent
    from inspect_ai.log import transcript

    seen: set[str | None] = set()

    def look(event: object) -> None:  # an event comes again whenever it changes
        if not isinstance(event, ModelEvent) or event.uuid in seen or event.call is None:
            return
        if event.call.response is not None and not event.call.error:  # a refusal or a broken line is no answer
            seen.add(event.uuid)
            note(event.model, event.call.request, event.call.response)

    transcript()._subscribe(look)


def computing() -> AbstractContextManager[None]:
    """While the block runs the sample is working, whatever else in it waits."""
    from inspect_ai._util.working import known_work

    return known_work()


class ModelObserver(Protocol):
    """Sees what programs ask a model; both methods are waited for."""

    async def asked(self, messages: list[ChatMessage]) -> None:
        """Before the model is asked: the whole conversation so far."""
        ...

    async def answered(self, output: ModelOutput) -> None:
        """Before the program gets the answer."""
        ...


def failure_of(error: Exception) -> tuple[int | None, str]:
    """What a provider, or Inspect before asking it, said when it did not answer: the status of HTTP and the message."""
    from inspect_ai._util.error import PrerequisiteError
    from inspect_ai.agent._bridge._errors import provider_error_payload
    from rich.text import Text

    payload = provider_error_payload(error)
    message = payload["message"]
    if isinstance(error, PrerequisiteError):  # written for terminals
        message = " ".join(Text.from_markup(message).plain.removeprefix("ERROR: ").split())
    return payload["status"], message


def without_hidden_retries(model: Model) -> None:
    """Has the client beneath a model send every request once, so that retries are seen and counted above it."""
    client: Any = getattr(model.api, "client", None)
    if hasattr(client, "max_retries"):
        client.max_retries = 0


async def told_window(model: Model) -> tuple[int | None, int | None]:
    """The tokens of a model's window and of its longest answer, as far as its server or Inspect knows them."""
    from inspect_ai.model import get_model_info

    if model.api.base_url:  # whoever serves it chooses its window
        return await _served_window(model), None
    info = get_model_info(model)
    return (info.context_length, info.output_tokens) if info else (None, None)


async def _served_window(model: Model) -> int | None:
    """What the list of models says that an OpenAI-compatible server gives: vLLM and llama.cpp name the window there."""
    client: Any = getattr(model.api, "client", None)
    if not hasattr(client, "models"):
        return None
    try:
        with_limits = client.with_options(max_retries=0, timeout=10.0)
        listed = [entry.model_dump() async for entry in with_limits.models.list()]
    except Exception:  # noqa: BLE001 (a server that has no such list, or another one)
        return None
    served = [entry for entry in listed if str(model.name).endswith(str(entry.get("id")))] or listed[:1]
    for entry in served:
        meta = entry.get("meta") or {}
        for found in (entry.get("max_model_len"), meta.get("n_ctx"), entry.get("context_length")):
            if isinstance(found, int) and found > 0:
                return found
    return None


class NoAnswerError(Exception):
    """A model was asked, or could not be, and its cause says why there is no answer; the request was readable."""


_REACHED: ContextVar[list[str]] = ContextVar("reached")
"""The models that were asked for the current request."""


class ModelBridge:
    """Answers requests in the protocols of OpenAI, Anthropic and Google with the model of the current sample."""

    def __init__(self, observer: ModelObserver | None = None) -> None:
        """
        Args:
            observer: sees what is asked and answered.
        """
        self._bridge = _bridge(observer)

    async def answer(self, protocol: str, document: dict[str, Any]) -> dict[str, Any]:
        """The answer to a request of the protocol that a method is named after.

        Raises:
            NoAnswerError: there is none.
            Exception: whatever the request is wrong in; no model was asked.
        """
        from inspect_ai._util.error import PrerequisiteError

        reached: list[str] = []
        _REACHED.set(reached)
        try:
            answer: dict[str, Any] = await getattr(self, protocol)(document)
        except Exception as error:
            if reached or isinstance(error, PodiumError | PrerequisiteError):
                raise NoAnswerError(str(error)) from error
            raise
        return answer

    async def chat(self, document: dict[str, Any]) -> dict[str, Any]:
        """The answer to a request of OpenAI's Chat Completions."""
        from inspect_ai.agent._bridge.completions import inspect_completions_api_request

        return _plain(await inspect_completions_api_request(document, None, self._bridge))

    async def responses(self, document: dict[str, Any]) -> dict[str, Any]:
        """The answer to a request of OpenAI's Responses."""
        from inspect_ai.agent._bridge.responses import inspect_responses_api_request

        return _plain(await inspect_responses_api_request(document, None, None, None, self._bridge))

    async def messages(self, document: dict[str, Any]) -> dict[str, Any]:
        """The answer to a request of Anthropic's Messages."""
        from inspect_ai.agent._bridge.anthropic_api import inspect_anthropic_api_request

        return _plain(await inspect_anthropic_api_request(document, None, None, None, self._bridge))

    async def google(self, document: dict[str, Any]) -> dict[str, Any]:
        """The answer to a request of Google's generateContent.

        Raises:
            MissingExtraError: the types of that protocol are not installed.
        """
        from inspect_ai.agent._bridge.google_api import inspect_google_api_request

        if find_spec("google.genai") is None:
            raise MissingExtraError("Google's protocol", "coding")
        return await inspect_google_api_request(document, None, None, self._bridge)


def _bridge(observer: ModelObserver | None) -> AgentBridge:
    from inspect_ai.agent import AgentState
    from inspect_ai.agent._bridge.types import AgentBridge

    async def asked(model: Model, messages: list[ChatMessage], *_: Any) -> None:
        _REACHED.get().append(model.name)
        if observer is not None:
            await observer.asked(messages)

    async def answered(model: Model, output: ModelOutput, *_: Any) -> ModelOutput | None:
        if observer is not None:
            await observer.answered(output)
        content = output.message.content
        if isinstance(content, str) or any(part.type != "text" for part in content):
            return None
        output.message.content = output.message.text  # Inspect writes ids of the parts between them
        return output

    return AgentBridge(
        AgentState(messages=[]),
        filter=asked,
        response_filter=answered,
        forward_generation_config=True,
        allow_remote_mcp=False,  # a provider would reach servers that the sandbox may not
        allow_remote_media=False,  # this process would read files and addresses that the sandbox may not
    )


def _plain(answer: BaseModel) -> dict[str, Any]:
    return answer.model_dump(mode="json", warnings=False)


def note_waiting(seconds: float) -> None:
    """Says that the current sample was waiting until now, which is not working time."""
    from inspect_ai._util.working import report_sample_waiting_time

    report_sample_waiting_time(seconds)
