"""Provider errors: messages of failed requests."""

from __future__ import annotations

import pytest

from podium.models.provider_errors import FailureKind, parse_failure

LLAMA_CPP = (
    "Error code: 400 - {'error': {'code': 400, 'message': 'the request exceeds the available context size (2048 "
    "tokens), try increasing it', 'type': 'exceed_context_size_error', 'n_prompt_tokens': 5210, 'n_ctx': 2048}}"
)
OLD_LLAMA_CPP = (
    "Error code: 400 - {'error': {'code': 400, 'message': 'the request exceeds the available context size. try "
    "increasing the context size or enable context shift', 'type': 'invalid_request_error'}}"
)
VLLM = (
    "Error code: 400 - {'object': 'error', 'message': \"This model's maximum context length is 8192 tokens. However, "
    "you requested 20384 tokens (4000 in the messages, 16384 in the completion). Please reduce the length of the "
    "messages or completion.\", 'type': 'BadRequestError', 'param': None, 'code': 400}"
)
NEW_VLLM = (
    "'max_tokens' or 'max_completion_tokens' is too large: 16384. This model's maximum context length is 8192 tokens "
    "and your request has 5000 input tokens (16384 > 8192 - 5000)."
)
OPENAI = (
    "Error code: 400 - {'error': {'message': \"This model's maximum context length is 128000 tokens. However, your "
    "messages resulted in 130012 tokens. Please reduce the length of the messages.\", 'type': 'invalid_request_error', "
    "'param': 'messages', 'code': 'context_length_exceeded'}}"
)
ANTHROPIC = "prompt is too long: 210123 tokens > 200000 maximum"
ANTHROPIC_BOTH = (
    "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or "
    "`max_tokens` and try again"
)
GOOGLE = (
    "400 INVALID_ARGUMENT. {'error': {'code': 400, 'message': 'The input token count (1100000) exceeds the maximum "
    "number of tokens allowed (1048576).', 'status': 'INVALID_ARGUMENT'}}"
)


@pytest.mark.parametrize(
    ("text", "window", "prompt"),
    [
        (LLAMA_CPP, 2_048, 5_210),
        (OLD_LLAMA_CPP, None, None),
        (VLLM, 8_192, 4_000),
        (NEW_VLLM, 8_192, 5_000),
        (OPENAI, 128_000, 130_012),
        (ANTHROPIC, 200_000, 210_123),
        (ANTHROPIC_BOTH, 200_000, 190_000),
        (GOOGLE, 1_048_576, 1_100_000),
    ],
)
def test_prompts_that_are_too_long_are_recognized_with_their_numbers(
    text: str, window: int | None, prompt: int | None
) -> None:
    failure = parse_failure(text, status=400, is_retryable=False)
    assert (failure.kind, failure.window, failure.prompt_tokens) == ("window", window, prompt)


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("max_tokens is too large: 100000. This model supports at most 16384 completion tokens", 16_384),
        ("max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens for claude-3-5", 8_192),
    ],
)
def test_answer_limits_are_recognized(text: str, limit: int) -> None:
    failure = parse_failure(text, status=400, is_retryable=False)
    assert (failure.kind, failure.answer_tokens) == ("answer", limit)


@pytest.mark.parametrize(
    ("text", "setting"),
    [
        (
            "Unsupported value: 'temperature' does not support 0.5 with this model. Only the default (1) value",
            "temperature",
        ),
        ("Unsupported parameter: 'stop' is not supported with this model.", "stop_seqs"),
        ("`top_p` is deprecated for this model", "top_p"),
        ("tool_choice: this model does not support forced tool use: not allowed", "tool_choice"),
    ],
)
def test_unsupported_settings_are_recognized(text: str, setting: str) -> None:
    failure = parse_failure(text, status=400, is_retryable=False)
    assert (failure.kind, failure.setting) == ("setting", setting)


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (400, "registry.ollama.ai/library/gemma3:4b does not support tools"),
        (500, "tools param requires --jinja flag"),
        (500, "Unsupported param: tools"),
        (400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
        (404, "No endpoints found that support tool use. To learn more about provider routing, visit: https://..."),
    ],
)
def test_models_without_tool_support_are_recognized(status: int, text: str) -> None:
    failure = parse_failure(text, status=status, is_retryable=True)
    assert (failure.kind, failure.setting) == ("setting", "tools")


@pytest.mark.parametrize(
    ("status", "text", "kind"),
    [
        (401, "Incorrect API key provided", "final"),
        (403, "Your organisation has no access to this model", "final"),
        (404, "The model does not exist", "final"),
        (429, "{'code': 'insufficient_quota', 'message': 'You exceeded your current quota'}", "final"),
        (429, "Rate limit reached for requests", "temporary"),
        (503, "The server is overloaded", "temporary"),
        (None, "Connection refused", "temporary"),
        (400, "messages.0.content: Field required", "final"),
    ],
)
def test_only_temporary_errors_are_retried(status: int | None, text: str, kind: FailureKind) -> None:
    assert parse_failure(text, status=status, is_retryable=True).kind == kind
