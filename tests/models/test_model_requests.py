"""Reaching a model over a real connection: small windows, refusals, retries and their causes."""

from __future__ import annotations

import random
from typing import Any

import anyio
import pytest
from inspect_ai.model import ChatMessageSystem, ChatMessageUser, GenerateConfig, get_model
from inspect_ai.tool import ToolInfo
from model_server import Fault, ModelServer, Reply, Request, dead, serving, text_of, windowed

from podium.models import model_requests
from podium.models.model_requests import ModelAccess, generate, set_model_access
from podium.models.token_limits import ModelUnreachableError, WindowTooSmallError

PROMPT = [ChatMessageSystem(content="You answer."), ChatMessageUser(content="word " * 20_000 + "THE END")]


def ask(server: ModelServer, access: ModelAccess | None = None, times: int = 1, **settings: Any) -> ModelAccess:
    """Asks the server's model some times; what is known then."""
    access = access or ModelAccess()
    retries = settings.pop("retries", 2)

    tools = settings.pop("tools", ())

    async def work() -> None:
        set_model_access(access)
        model = get_model("openai-api/podium/scripted", base_url=server.url, memoize=False)
        async with model:
            for _ in range(times):
                await generate(
                    model, PROMPT, GenerateConfig(max_tokens=2_000, **settings), retries=retries, tools=tools
                )

    anyio.run(work)
    return access


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PODIUM_API_KEY", "none")
    monkeypatch.setattr(model_requests, "FIRST_PAUSE_S", 0.001)


def said(request: Request, rng: random.Random) -> Reply:
    return Reply("I see.")


@pytest.mark.parametrize("style", ["llama.cpp", "vllm", "openai"])
def test_a_prompt_is_cut_to_the_context_window_which_is_then_known(style: Any) -> None:
    with serving(windowed(said, 8_192, style)) as server:
        access = ask(server, times=2)
    assert server.faults <= 2, "it is learnt once"
    last = text_of(server.requests[-1])
    assert last.startswith("You answer.") and last.endswith("THE END")
    assert 10_000 < len(last) < 8_192 * 4
    assert access.limits["openai-api/podium/scripted"].window == 8_192
    assert access.take_notes() == (
        "prompts for openai-api/podium/scripted are limited to its context window of 8,192 tokens",
    )
    assert access.take_notes() == ()


def test_a_window_reported_by_the_server_is_respected_from_the_start() -> None:
    with serving(windowed(said, 8_192, "vllm")) as server:
        server.window = 8_192
        ask(server)
    assert server.faults == 0


def test_the_error_for_a_small_window_explains_what_to_do() -> None:
    with serving(windowed(said, 2_048)) as server, pytest.raises(WindowTooSmallError, match=r"2,048 tokens.*-c 8192"):
        ask(server)


def test_provider_errors_are_never_taken_for_answers() -> None:
    with serving(windowed(said, 8_192, "openai")) as server:
        ask(server)
    assert not any("maximum context length" in text_of(request) for request in server.requests)


def test_a_truncated_answer_raises_the_next_limit() -> None:
    with serving(lambda request, rng: Reply("And so", finish="length")) as server:
        ask(server, times=4)
    assert [request["max_tokens"] for request in server.requests] == [2_000, 4_000, 8_000, 8_000]


def test_an_unsupported_setting_is_omitted() -> None:
    def strict(request: Request, rng: random.Random) -> Reply | Fault:
        if "temperature" in request:
            return Fault(400, "Unsupported value: 'temperature' does not support 0.5 with this model.")
        return Reply("I see.")

    with serving(strict) as server:
        access = ask(server, times=2, temperature=0.5)
    assert [("temperature" in request) for request in server.requests] == [True, False, False]
    assert "does not support temperature" in access.take_notes()[0]


def test_an_agent_that_needs_tools_fails_with_a_model_without_them() -> None:
    tools = [ToolInfo(name="look", description="Looks.")]
    refusal = Fault(400, "gemma3:4b does not support tools")
    with serving(lambda request, rng: refusal) as server, pytest.raises(ModelUnreachableError, match="support tools"):
        ask(server, tools=tools)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("fault", "cause"),
    [
        (Fault(401, "Incorrect API key provided: sk-x"), "Incorrect API key provided"),
        (Fault(429, "You exceeded your current quota", "insufficient_quota"), "exceeded your current quota"),
        (Fault(404, "The model does not exist"), "The model does not exist"),
    ],
)
def test_permanent_errors_are_not_retried(fault: Fault, cause: str) -> None:
    with serving(lambda request, rng: fault) as server, pytest.raises(ModelUnreachableError, match=cause):
        ask(server)
    assert len(server.requests) == 1


def test_every_retry_is_counted_and_its_cause_reported() -> None:
    told: list[str] = []
    with serving(dead) as server, pytest.raises(ModelUnreachableError, match=r"after 2 retries.*overloaded"):
        ask(server, ModelAccess(tell=told.append))
    assert len(server.requests) == 3, "none is hidden in the client"
    waits = [text for text in told if text.startswith("waiting")]
    assert len(waits) == 2
    assert waits[1].startswith("waiting for the model: ") and waits[1].endswith(", retry 2 of 2")
    assert "overloaded" in waits[0]


def test_a_refused_connection_is_reported() -> None:
    with serving(said) as server:
        pass
    with pytest.raises(ModelUnreachableError, match=r"(?i)connect"):
        ask(server, retries=0)


def test_the_cause_does_not_contain_the_request() -> None:
    fault = Fault(400, "messages.1.content: something is wrong with it")
    with serving(lambda request, rng: fault) as server, pytest.raises(ModelUnreachableError) as raised:
        ask(server)
    assert "something is wrong with it" in str(raised.value) and "word word" not in str(raised.value)


def test_no_retry_exceeds_the_remaining_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_requests, "FIRST_PAUSE_S", 60.0)
    with serving(dead) as server, pytest.raises(ModelUnreachableError, match="no time left for another retry"):
        ask(server, ModelAccess(remaining_s=lambda: 30.0))
    assert len(server.requests) == 1


def test_the_providers_retry_after_is_respected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_requests, "FIRST_PAUSE_S", 600.0)
    faults = iter([Fault(429, "slow down", retry_after_s=0.01)])
    with serving(lambda request, rng: next(faults, Reply("I see."))) as server:
        ask(server)
    assert len(server.requests) == 2
