"""Reaching models: requests that are repeated when that may help, and prompts that fit.

Every retry is ours, none is hidden in a client: so it is counted, its cause is told while it lasts, and it ends with
the run's time.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import anyio

from podium.inspect_internals import told_window, without_hidden_retries
from podium.models.provider_errors import ModelFailure, read_failure
from podium.models.token_limits import (
    ModelLimits,
    ModelUnreachableError,
    WindowTooSmallError,
    shortened,
    size_of,
)

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelOutput
    from inspect_ai.tool import ToolFunction, ToolInfo

RETRIES = 8
FIRST_PAUSE_S = 0.5
PAUSE_GROWTH = 3.0
LONGEST_PAUSE_S = 240.0
"""With these, eight retries take about eleven minutes."""
SHRINKS = 6
"""How often a prompt that does not fit is cut before the model is given up."""
GO_ON = "Nothing is lost: repeat the command with --retry and the run goes on from here"


def _only(role: str, **settings: Any) -> GenerateConfig:
    from inspect_ai.model import GenerateConfig

    return GenerateConfig(**settings)


@dataclass
class ModelAccess:
    """What a run knows about its models, and how long it may wait for them."""

    remaining_s: Callable[[], float | None] = lambda: None
    tell: Callable[[str], None] = lambda text: None
    """Is told what is being waited for."""
    config: Callable[..., GenerateConfig] = _only
    """How a model in a role is asked from within actions; further settings are defaults."""
    retries: int = RETRIES
    """Of requests from within actions."""
    limits: dict[str, ModelLimits] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    """What the journal should say of the requests since it was last written."""

    def take_notes(self) -> tuple[str, ...]:
        """The notes, which are then gone."""
        found, self.notes = tuple(dict.fromkeys(self.notes)), []
        return found


_ACCESS: ContextVar[ModelAccess | None] = ContextVar("model_access", default=None)


def model_access() -> ModelAccess:
    """That of the current run."""
    found = _ACCESS.get()
    if found is None:
        found = ModelAccess()
        _ACCESS.set(found)
    return found


def use_access(access: ModelAccess) -> None:
    """Makes all that is begun from here on use it."""
    _ACCESS.set(access)


async def limits_of(model: Model, context_tokens: int | None = None) -> ModelLimits:
    """What is known about a model, from its provider, from Inspect, or from somebody who says so.

    Raises:
        WindowTooSmallError: no agent can work with it.
    """
    known = model_access().limits
    name = str(model)
    if name not in known:
        window, answer = (context_tokens, None) if context_tokens else await told_window(model)
        known[name] = ModelLimits(name, window=window, answer=answer)
    known[name].check()
    return known[name]


Prompt: TypeAlias = "Callable[[int | None], Sequence[ChatMessage]]"
"""Messages that keep within a number of characters as well as they can; None where there is no limit."""


async def generate(
    model: Model,
    prompt: Sequence[ChatMessage] | Prompt,
    config: GenerateConfig,
    *,
    tools: Sequence[ToolInfo] = (),
    tool_choice: ToolFunction | None = None,
    retries: int = RETRIES,
    context_tokens: int | None = None,
) -> ModelOutput:
    """A model's answer to a prompt, which is made shorter, or else cut, if the model's window is too small for it.

    Args:
        tool_choice: the tool to answer with. A model that takes no tools is asked without, for the same in text.

    Raises:
        ModelUnreachableError: there was none; says why.
    """
    limits = await limits_of(model, context_tokens)
    wanted = config.max_tokens or 4_096
    said = ""
    for _ in range(SHRINKS):
        if tool_choice and "tools" in limits.refused:
            tools, tool_choice = (), None
        room = limits.prompt_characters(wanted)
        room = None if room is None else max(0, room - size_of((), tools))
        messages = list(prompt(room) if callable(prompt) else prompt)
        fitting = messages if room is None else shortened(messages, room)
        sent = size_of(fitting, tools)
        allowed = limits.answer_tokens(wanted, sent)
        changes = {"max_tokens": allowed, **dict.fromkeys(limits.refused - {"tool_choice", "tools"})}
        choice = None if "tool_choice" in limits.refused else tool_choice
        request = _Request(model, fitting, config.model_copy(update=changes), tools, choice)
        answer = await request.answer(retries)
        if isinstance(answer, ModelFailure) and answer.setting in limits.refused | _needed(tools, tool_choice):
            raise ModelUnreachableError(f"The model {model} refused the request: {answer.cause}. {GO_ON}")
        if not isinstance(answer, ModelFailure):
            used = answer.usage
            is_cut_off = answer.stop_reason in ("max_tokens", "model_length")
            limits.observe(sent=sent, prompt_tokens=_prompt_tokens(used), is_cut_off=is_cut_off)
            return answer
        said = answer.cause
        model_access().notes.append(limits.learn(answer, sent=sent, wanted=allowed))
        limits.check()
    raise WindowTooSmallError(
        f"The prompt does not fit the window of {limits.name}, however it is cut. It said: {said}. Serve the "
        "model with a larger window, or use another"
    )


def _needed(tools: Sequence[ToolInfo], tool_choice: ToolFunction | None) -> set[str]:
    """What cannot be left out: tools among which the model is to choose."""
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
        """The answer, or why it has to be asked for differently; asked again for as long as that may help.

        Raises:
            ModelUnreachableError: it never came.
        """
        access, waited = model_access(), 0.0
        for retry in range(1, retries + 2):
            answer, pause = await self._once()
            if retry > 1:
                access.tell("thinking")
            if not isinstance(answer, ModelFailure) or answer.kind in ("window", "answer", "setting"):
                return answer
            if answer.kind == "final":
                raise ModelUnreachableError(f"The model {self.model} refused the request: {answer.cause}. {GO_ON}")
            left = access.remaining_s()
            pause = min(pause or FIRST_PAUSE_S * PAUSE_GROWTH ** (retry - 1), LONGEST_PAUSE_S)
            if retry > retries or (left is not None and waited + pause > left):
                why = f"with {retries} retries" if retry > retries else "and there is no time to go on waiting"
                raise ModelUnreachableError(f"The model {self.model} gave no answer, {why}: {answer.cause}. {GO_ON}")
            access.tell(f"waiting for the model: {answer.cause[:120]}, retry {retry} of {retries}")
            access.notes.append(f"waited for {self.model}: {answer.cause[:300]}")
            waited += pause
            await _pause(pause)
        raise AssertionError("the loop returns or raises")

    async def _once(self) -> tuple[ModelOutput | ModelFailure, float | None]:
        """One request: what came of it, and how long the provider asks to wait."""
        from inspect_ai.util import LimitExceededError
        from tenacity import RetryError

        try:
            without_hidden_retries(self.model)
            output = await self.model.generate(
                self.messages,
                tools=list(self.tools),
                tool_choice=self.tool_choice,
                config=self.config.model_copy(update={"max_retries": 0}),
            )
        except LimitExceededError:
            raise
        except Exception as error:  # noqa: BLE001 (providers raise what they like)
            cause = error.last_attempt.exception() if isinstance(error, RetryError) else error
            assert cause is not None
            failure = read_failure(
                _text(cause),
                status=_status(cause),
                is_retryable=isinstance(error, RetryError | OSError),
                details=_details(cause),
            )
            return failure, _asked_pause(cause)
        is_refusal = output.stop_reason == "model_length" and not (output.usage and output.usage.output_tokens)
        if is_refusal:  # Inspect puts the provider's words into the model's mouth
            return ModelFailure("window", *_read_window(output.completion or output.error or "")), None
        return output, None


def _read_window(text: str) -> tuple[str, int | None, int | None]:
    read = read_failure(text, status=400, is_retryable=False)
    return read.cause, read.window, read.prompt_tokens


def _text(error: BaseException) -> str:
    """What an error and those behind it say, each once, without the request that Inspect adds."""
    said: list[str] = []
    at: BaseException | None = error
    while at is not None and len(said) < 4:
        text = getattr(at, "provider_message", None) or str(at) or type(at).__name__
        if not any(text in other for other in said):
            said.append(text)
        at = at.__cause__ if _status(error) is None else None  # a status says enough
    return ": ".join(said)


def _status(error: BaseException) -> int | None:
    for name in ("status_code", "code"):
        if isinstance(status := getattr(error, name, None), int):
            return status
    return None


def _asked_pause(error: BaseException) -> float | None:
    """The seconds after which a provider wants to be asked again."""
    headers = getattr(getattr(error, "response", None), "headers", {})
    for name, unit in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        with contextlib.suppress(KeyError, ValueError):
            return max(0.0, float(headers[name]) * unit)
    return None


async def _pause(seconds: float) -> None:
    """Waits, which is not the agent's time."""
    from inspect_ai.util import suspend_working_limit

    with suspend_working_limit():
        await anyio.sleep(seconds)


def _details(error: BaseException) -> str:
    """What a provider sent besides its message; Inspect wraps errors, so it may lie one deeper."""
    return " ".join(str(body) for each in (error, error.__cause__) if (body := getattr(each, "body", None)))
