"""Classification of provider errors: the reason for a failed model request, parsed from the error message."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from podium.text import bounded

FailureKind = Literal["window", "answer", "setting", "final", "temporary"]
CAUSE_CHARACTERS = 1_500

_NUMBER = r"[(~]?\s*(\d[\d,]{2,})"
_WINDOW = (
    r"exceed_context_size_error",  # llama.cpp
    r"exceeds the available context size",
    r"context size has been exceeded",
    r"context_length_exceeded",  # OpenAI
    r"maximum context length",  # OpenAI, vLLM, DeepSeek
    r"exceeds? (the )?(model'?s )?(maximum )?context",
    r"prompt is too long",  # Anthropic
    r"exceed context limit",
    r"input token count .{0,40}exceeds",  # Google
    r"input length .{0,60}exceeds",
    r"reduce the length of the (messages|prompt|input)",
)
_SIZES = (
    rf"n_ctx'?\"?\s*[:=]\s*{_NUMBER}",
    rf"available context size {_NUMBER}",
    rf"maximum context length (?:is|of) {_NUMBER}",
    rf"exceed context limit: [\d,]+ \+ [\d,]+ > {_NUMBER}",
    rf"tokens > {_NUMBER} maximum",
    rf"maximum number of tokens allowed {_NUMBER}",
    rf"context (?:window|length|limit)\D{{0,20}}{_NUMBER}",
)
_PROMPTS = (
    rf"n_prompt_tokens'?\"?\s*[:=]\s*{_NUMBER}",
    rf"{_NUMBER} in the messages",
    rf"messages resulted in {_NUMBER}",
    rf"request has {_NUMBER} input tokens",
    rf"too long: {_NUMBER} tokens",
    rf"exceed context limit: {_NUMBER}",
    rf"input token count {_NUMBER}",
)
_ANSWERS = (
    rf"supports at most {_NUMBER} completion tokens",
    rf"max_tokens'?: [\d,]+ > {_NUMBER}",
    rf"(?:max_tokens|max_completion_tokens|maxOutputTokens)\D{{0,60}}(?:at most|less than or equal to)\s*{_NUMBER}",
)
_SETTINGS = {
    "temperature": "temperature",
    "top_p": "top_p",
    "seed": "seed",
    "stop": "stop_seqs",
    "stop_sequences": "stop_seqs",
    "reasoning_effort": "reasoning_effort",
    "reasoning": "reasoning_effort",
    "tool_choice": "tool_choice",
}
"""Request settings that some models reject, by their names in error messages."""
_REFUSED = "unsupported|not support|deprecated|not allowed|may not be|only the default"
_NAMES = "|".join(_SETTINGS)
_UNSUPPORTED = re.compile(
    rf"(?:{_REFUSED}).{{0,80}}?\b({_NAMES})\b|\b({_NAMES})\b.{{0,80}}?(?:{_REFUSED})", re.I | re.S
)
_NO_TOOLS = re.compile(
    r"not support (?:tools|tool use|function calling)"  # Ollama
    r"|unsupported param\w*: '?tools|tools param requires"  # llama.cpp
    r"|tool choice requires|no endpoints found that support tool use",  # vLLM, OpenRouter
    re.I,
)
_NO_MONEY = re.compile(
    r"insufficient_quota|credit balance|billing_hard_limit|payment required|insufficient balance", re.I
)
_FINAL_STATUS = frozenset({400, 401, 402, 403, 404, 405, 413, 422})


@dataclass(frozen=True)
class ModelFailure:
    """Reason for a failed request, and the facts needed to avoid it."""

    kind: FailureKind
    """window: the prompt is too long. answer: the requested answer is too long. setting: the model rejects a setting.
    final: retrying does not help. temporary: it may."""
    cause: str
    window: int | None = None
    """Context window in tokens, if the message states it."""
    prompt_tokens: int | None = None
    """Number of tokens in the prompt, as counted by the provider."""
    answer_tokens: int | None = None
    """Maximum answer length in tokens."""
    setting: str | None = None
    """Setting that the model rejects, by its name in Inspect; `tools` if it does not support tools."""


def parse_failure(text: str, *, status: int | None, is_retryable: bool, details: str = "") -> ModelFailure:
    """Return the failure described by an error message.

    Args:
        text: the provider's message.
        status: the HTTP status.
        is_retryable: whether the client considers the error temporary.
        details: the rest of the response, such as an error code.
    """
    cause = bounded(" ".join(text.split()), CAUSE_CHARACTERS)
    text = f"{text} {details}"
    if not _NO_MONEY.search(text) and status in (None, 400, 413, 422, 500):
        answer = _first(_ANSWERS, text)
        if answer is not None:
            return ModelFailure("answer", cause, answer_tokens=answer)
        if any(re.search(pattern, text, re.I | re.S) for pattern in _WINDOW):
            return ModelFailure("window", cause, window=_first(_SIZES, text), prompt_tokens=_first(_PROMPTS, text))
        if found := _UNSUPPORTED.search(text):
            return ModelFailure("setting", cause, setting=_SETTINGS[(found[1] or found[2]).lower()])
    if _NO_TOOLS.search(text):
        return ModelFailure("setting", cause, setting="tools")
    is_final = status in _FINAL_STATUS or _NO_MONEY.search(text) is not None
    return ModelFailure("final" if is_final or not is_retryable else "temporary", cause)


def _first(patterns: tuple[str, ...], text: str) -> int | None:
    for pattern in patterns:
        if found := re.search(pattern, text, re.I | re.S):
            return int(found[1].replace(",", ""))
    return None
