"""Private parts of Inspect AI that Podium uses; no other module imports `inspect_ai._*` or similar.

Inspect is imported inside functions, because importing it takes seconds.
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

LATE_IMPORTS = ("inspect_ai.agent._acp.server", "inspect_ai.model._providers.none")
"""Modules that Inspect imports only during an evaluation."""
MODEL_CLIENT_MODULES = ("inspect_ai.model._openai_responses", "inspect_ai.model._providers.anthropic")
"""Modules with model clients, imported during an evaluation although one without a model does not need them."""


def prerequisite_error(message: str) -> Exception:
    """Return an error that Inspect shows as one sentence, without a traceback."""
    from inspect_ai._util.error import PrerequisiteError

    return PrerequisiteError(message)


@contextmanager
def without_model_clients() -> Iterator[None]:
    """Prevent evaluations from loading the clients of OpenAI and Anthropic, which takes two seconds.

    Only for evaluations without a model: with one, these clients keep state that the messages of a sample cannot hold.
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
    """Give the current asyncio task a sandbox and usage counters like those of a sample, without an evaluation."""
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
    """Return the usage of the current sample by model name."""
    from inspect_ai.model._model import sample_model_usage

    return sample_model_usage()


def watch_model_calls(note: Callable[[str, Any, Any], None]) -> None:
    """Call `note` with model, request and response of each successful model call of the current sample."""
    from inspect_ai.event import ModelEvent
    from inspect_ai.log import transcript

    seen: set[str | None] = set()

    def look(event: object) -> None:  # an event is repeated when it changes
        if not isinstance(event, ModelEvent) or event.uuid in seen or event.call is None:
            return
        if event.call.response is not None and not event.call.error:  # refusals and broken connections are no responses
            seen.add(event.uuid)
            note(event.model, event.call.request, event.call.response)

    transcript()._subscribe(look)


def computing() -> AbstractContextManager[None]:
    """Count the time of the block as working time, even while other parts of the sample wait."""
    from inspect_ai._util.working import known_work

    return known_work()


class ModelObserver(Protocol):
    """Observer of model calls by programs; both methods are awaited."""

    async def asked(self, messages: list[ChatMessage]) -> None:
        """Receive the complete conversation before the model is called."""
        ...

    async def answered(self, output: ModelOutput) -> None:
        """Receive the output of the model before the program does."""
        ...


def failure_of(error: Exception) -> tuple[int | None, str]:
    """Return the HTTP status and the message of a failed model call, from the provider or from Inspect itself."""
    from inspect_ai._util.error import PrerequisiteError
    from inspect_ai.agent._bridge._errors import provider_error_payload
    from rich.text import Text

    payload = provider_error_payload(error)
    message = payload["message"]
    if isinstance(error, PrerequisiteError):  # written for terminals
        message = " ".join(Text.from_markup(message).plain.removeprefix("ERROR: ").split())
    return payload["status"], message


def disable_client_retries(model: Model) -> None:
    """Disable retries in the client of a model, so that Podium sees and counts all retries itself."""
    client: Any = getattr(model.api, "client", None)
    if hasattr(client, "max_retries"):
        client.max_retries = 0


async def context_window_of(model: Model) -> tuple[int | None, int | None]:
    """Return the context window and the maximum output of a model in tokens, each None if unknown."""
    from inspect_ai.model import get_model_info

    if model.api.base_url:  # the server determines the window
        return await _served_window(model), None
    info = get_model_info(model)
    return (info.context_length, info.output_tokens) if info else (None, None)


async def _served_window(model: Model) -> int | None:
    """Return the context window from the model list of an OpenAI-compatible server such as vLLM or llama.cpp."""
    client: Any = getattr(model.api, "client", None)
    if not hasattr(client, "models"):
        return None
    try:
        with_limits = client.with_options(max_retries=0, timeout=10.0)
        listed = [entry.model_dump() async for entry in with_limits.models.list()]
    except Exception:  # noqa: BLE001 (the server has no model list, or one in another format)
        return None
    served = [entry for entry in listed if str(model.name).endswith(str(entry.get("id")))] or listed[:1]
    for entry in served:
        meta = entry.get("meta") or {}
        for tokens in (entry.get("max_model_len"), meta.get("n_ctx"), entry.get("context_length")):
            if isinstance(tokens, int) and tokens > 0:
                return tokens
    return None


class NoAnswerError(Exception):
    """Failed model call for a readable request; the cause of the exception gives the reason."""


_REACHED: ContextVar[list[str]] = ContextVar("reached")
"""Models called for the current request."""


class ModelBridge:
    """Bridge from the protocols of OpenAI, Anthropic and Google to the model of the current sample."""

    def __init__(self, observer: ModelObserver | None = None) -> None:
        """
        Args:
            observer: observer of all model calls.
        """
        self._bridge = _bridge(observer)

    async def answer(self, protocol: str, document: dict[str, Any]) -> dict[str, Any]:
        """Answer a request in a protocol, which is the name of one of the methods below.

        Raises:
            NoAnswerError: the model call failed.
            Exception: the request is invalid; no model was called.
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
        """Answer a request of OpenAI's Chat Completions API."""
        from inspect_ai.agent._bridge.completions import inspect_completions_api_request

        return _plain(await inspect_completions_api_request(document, None, self._bridge))

    async def responses(self, document: dict[str, Any]) -> dict[str, Any]:
        """Answer a request of OpenAI's Responses API."""
        from inspect_ai.agent._bridge.responses import inspect_responses_api_request

        return _plain(await inspect_responses_api_request(document, None, None, None, self._bridge))

    async def messages(self, document: dict[str, Any]) -> dict[str, Any]:
        """Answer a request of Anthropic's Messages API."""
        from inspect_ai.agent._bridge.anthropic_api import inspect_anthropic_api_request

        return _plain(await inspect_anthropic_api_request(document, None, None, None, self._bridge))

    async def google(self, document: dict[str, Any]) -> dict[str, Any]:
        """Answer a request of Google's generateContent API.

        Raises:
            MissingExtraError: the package with the types of this API is not installed.
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
        output.message.content = output.message.text  # Inspect would insert the ids of the parts
        return output

    return AgentBridge(
        AgentState(messages=[]),
        filter=asked,
        response_filter=answered,
        forward_generation_config=True,
        allow_remote_mcp=False,  # a provider would reach servers that the sandbox must not
        allow_remote_media=False,  # this process would read files and URLs that the sandbox must not
    )


def _plain(answer: BaseModel) -> dict[str, Any]:
    return answer.model_dump(mode="json", warnings=False)


def report_waiting_time(seconds: float) -> None:
    """Report that the current sample has waited, which is not working time."""
    from inspect_ai._util.working import report_sample_waiting_time

    report_sample_waiting_time(seconds)
