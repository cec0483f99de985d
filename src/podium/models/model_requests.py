"""Model requests: retries with back-off, and prompts shortened to fit the context window.

All retries happen here, none inside a client: so they are counted, their cause is shown while waiting, and they end
when the run's time is up.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import anyio

from podium.inspect_internals import context_window_of, disable_client_retries
from podium.models.provider_errors import ModelFailure, parse_failure
from podium.models.token_limits import (
    ModelLimits,
    ModelUnreachableError,
    WindowTooSmallError,
    prompt_size,
    shortened,
)

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelOutput
    from inspect_ai.tool import ToolFunction, ToolInfo

MAX_RETRIES = 8
FIRST_PAUSE_S = 0.5
PAUSE_GROWTH = 3.0
MAX_PAUSE_S = 240.0
"""Longest pause between retries; with these values, eight retries take about eleven minutes."""
MAX_SHRINKS = 6
"""Maximum number of times a prompt is shortened to fit the context window."""
RETRY_HINT = "Nothing is lost: repeat the command with --retry to continue the run from here"


def _only(role: str, **settings: Any) -> GenerateConfig:
    from inspect_ai.model import GenerateConfig

    return GenerateConfig(**settings)


@dataclass
class ModelAccess:
    """Limits, settings and notes of a run's model requests."""

    remaining_s: Callable[[], float | None] = lambda: None
    tell: Callable[[str], None] = lambda text: None
    """Callback for status messages, such as the reason for a retry."""
    config: Callable[..., GenerateConfig] = _only
    """Function that returns the request settings for a role; keyword arguments are defaults."""
    retries: int = MAX_RETRIES
    """Number of retries of model requests made by actions."""
    limits: dict[str, ModelLimits] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    """Notes for the journal since the last step."""

    def take_notes(self) -> tuple[str, ...]:
        """Return the notes and clear them."""
        found, self.notes = tuple(dict.fromkeys(self.notes)), []
        return found


_ACCESS: ContextVar[ModelAccess | None] = ContextVar("model_access", default=None)


def model_access() -> ModelAccess:
    """Return the model access of the current run."""
    found = _ACCESS.get()
    if found is None:
        found = ModelAccess()
        _ACCESS.set(found)
    return found


def set_model_access(access: ModelAccess) -> None:
    """Set the model access for everything started from here on."""
    _ACCESS.set(access)


async def get_model_limits(model: Model, context_tokens: int | None = None) -> ModelLimits:
    """Return the limits of a model, from the user, its provider or Inspect.

    Raises:
        WindowTooSmallError: the context window is too small for any agent.
    """
    known = model_access().limits
    name = str(model)
    if name not in known:
        window, answer = (context_tokens, None) if context_tokens else await context_window_of(model)
        known[name] = ModelLimits(name, window=window, answer=answer)
    known[name].check()
    return known[name]


Prompt: TypeAlias = "Callable[[int | None], Sequence[ChatMessage]]"
"""Function that returns messages of at most about this number of characters; None means no limit."""


async def generate(
    model: Model,
    prompt: Sequence[ChatMessage] | Prompt,
    config: GenerateConfig,
    *,
    tools: Sequence[ToolInfo] = (),
    tool_choice: ToolFunction | None = None,
    retries: int = MAX_RETRIES,
    context_tokens: int | None = None,
) -> ModelOutput:
    """Return a model's answer to a prompt, which is shortened or cut if it exceeds the context window.

    Args:
        tool_choice: the tool to answer with. Models without tool support are asked for the same as text.

    Raises:
        ModelUnreachableError: there is no answer; the message gives the reason.
    """
    limits = await get_model_limits(model, context_tokens)
    requested = config.max_tokens or 4_096
    said = ""
    for _ in range(MAX_SHRINKS):
        if tool_choice and "tools" in limits.refused:
            tools, tool_choice = (), None
        room = limits.prompt_characters(requested)
        room = None if room is None else max(0, room - prompt_size((), tools))
        messages = list(prompt(room) if callable(prompt) else prompt)
        fitting = messages if room is None else shortened(messages, room)
        sent = prompt_size(fitting, tools)
        allowed = limits.answer_tokens(requested, sent)
        changes = {"max_tokens": allowed, **dict.fromkeys(limits.refused - {"tool_choice", "tools"})}
        choice = None if "tool_choice" in limits.refused else tool_choice
        request = _Request(model, fitting, config.model_copy(update=changes), tools, choice)
        answer = await request.answer(retries)
        if isinstance(answer, ModelFailure) and answer.setting in limits.refused | _needed(tools, tool_choice):
            raise ModelUnreachableError(f"The model {model} refused the request: {answer.cause}. {RETRY_HINT}")
        if not isinstance(answer, ModelFailure):
            used = answer.usage
            is_cut_off = answer.stop_reason in ("max_tokens", "model_length")
            limits.observe(sent=sent, prompt_tokens=_prompt_tokens(used), is_cut_off=is_cut_off)
            return answer
        said = answer.cause
        model_access().notes.append(limits.learn(answer, sent=sent, requested=allowed))
        limits.check()
    raise WindowTooSmallError(
        f"The prompt does not fit the context window of {limits.name}, even when shortened. The provider's message: "
        f"{said}. Serve the model with a larger context window, or use another model"
    )


def _needed(tools: Sequence[ToolInfo], tool_choice: ToolFunction | None) -> set[str]:
    """Return the settings that cannot be dropped: `tools`, if the model must choose among several."""
    return {"tools"} if tools and tool_choice is None else set()


def _prompt_tokens(usage: Any) -> int:
    if usage is None:
        return 0
    return int(usage.input_tokens + (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0))


@dataclass(frozen=True)
class _Request:
    model: Model
    messages: list[ChatMessage]
    config: GenerateConfig
    tools: Sequence[ToolInfo]
    tool_choice: ToolFunction | None

    async def answer(self, retries: int) -> ModelOutput | ModelFailure:
        """Send the request with retries, and return the answer or a failure that a different request can avoid.

        Raises:
            ModelUnreachableError: all retries failed.
        """
        access, waited = model_access(), 0.0
        for retry in range(1, retries + 2):
            answer, pause = await self._once()
            if retry > 1:
                access.tell("thinking")
            if not isinstance(answer, ModelFailure) or answer.kind in ("window", "answer", "setting"):
                return answer
            if answer.kind == "final":
                raise ModelUnreachableError(f"The model {self.model} refused the request: {answer.cause}. {RETRY_HINT}")
            left = access.remaining_s()
            pause = min(pause or FIRST_PAUSE_S * PAUSE_GROWTH ** (retry - 1), MAX_PAUSE_S)
            if retry > retries:
                raise ModelUnreachableError(
                    f"The model {self.model} gave no answer after {retries} retries: {answer.cause}. {RETRY_HINT}"
                )
            if left is not None and waited + pause > left:
                raise ModelUnreachableError(
                    f"The model {self.model} gave no answer, and there is no time left for another retry: "
                    f"{answer.cause}. {RETRY_HINT}"
                )
            access.tell(f"waiting for the model: {answer.cause[:120]}, retry {retry} of {retries}")
            access.notes.append(f"waited for {self.model}: {answer.cause[:300]}")
            waited += pause
            await _pause(pause)
        raise AssertionError("the loop returns or raises")

    async def _once(self) -> tuple[ModelOutput | ModelFailure, float | None]:
        """Send one request; return the answer or failure, and the pause the provider asked for."""
        from inspect_ai.util import LimitExceededError
        from tenacity import RetryError

        try:
            disable_client_retries(self.model)
            output = await self.model.generate(
                self.messages,
                tools=list(self.tools),
                tool_choice=self.tool_choice,
                config=self.config.model_copy(update={"max_retries": 0}),
            )
        except LimitExceededError:
            raise
        except Exception as error:  # noqa: BLE001 (providers raise all kinds of exceptions)
            cause = error.last_attempt.exception() if isinstance(error, RetryError) else error
            assert cause is not None
            failure = parse_failure(
                _text(cause),
                status=_status(cause),
                is_retryable=isinstance(error, RetryError | OSError),
                details=_details(cause),
            )
            return failure, _asked_pause(cause)
        is_refusal = output.stop_reason == "model_length" and not (output.usage and output.usage.output_tokens)
        if is_refusal:  # Inspect returns the provider's error as the model's answer
            return ModelFailure("window", *_read_window(output.completion or output.error or "")), None
        return output, None


def _read_window(text: str) -> tuple[str, int | None, int | None]:
    read = parse_failure(text, status=400, is_retryable=False)
    return read.cause, read.window, read.prompt_tokens


def _text(error: BaseException) -> str:
    """Return the messages of an error and its causes, each once, without the request text that Inspect adds."""
    said: list[str] = []
    at: BaseException | None = error
    while at is not None and len(said) < 4:
        text = getattr(at, "provider_message", None) or str(at) or type(at).__name__
        if not any(text in other for other in said):
            said.append(text)
        at = at.__cause__ if _status(error) is None else None  # with a status, the causes add nothing
    return ": ".join(said)


def _status(error: BaseException) -> int | None:
    for name in ("status_code", "code"):
        if isinstance(status := getattr(error, name, None), int):
            return status
    return None


def _asked_pause(error: BaseException) -> float | None:
    """Return the provider's `Retry-After` in seconds."""
    headers = getattr(getattr(error, "response", None), "headers", {})
    for name, unit in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        with contextlib.suppress(KeyError, ValueError):
            return max(0.0, float(headers[name]) * unit)
    return None


async def _pause(seconds: float) -> None:
    """Sleep without charging the time to the agent."""
    from inspect_ai.util import suspend_working_limit

    with suspend_working_limit():
        await anyio.sleep(seconds)


def _details(error: BaseException) -> str:
    """Return the response body of an error; Inspect wraps errors, so it may belong to the cause."""
    return " ".join(str(body) for each in (error, error.__cause__) if (body := getattr(each, "body", None)))
