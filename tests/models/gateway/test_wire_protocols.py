"""Every client protocol onto every provider protocol: real clients, a scripted model, tool calls, streams."""

from __future__ import annotations

import http.client
import json
import random
import socket
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import anthropic
import openai
import pytest
from anyio import to_thread
from inspect_ai.model import GenerateConfig, Model, get_model
from model_server import Call, Fault, ModelServer, Reply, Request, serving
from talkers import in_sample

from podium.models.gateway import gateway_server, wire_protocols

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
PROVIDERS = ("chat", "responses", "messages")
OF_ITS_CLIENT = pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession:DeprecationWarning")
ALL_PROVIDERS = [*PROVIDERS, pytest.param("google", marks=[pytest.mark.coding, OF_ITS_CLIENT])]


class Talk(NamedTuple):
    """A client's view: the tool call, the last answer and the tokens of both answers."""

    call: tuple[str, dict[str, Any]]
    text: str
    tokens: int


def provider(protocol: str, server: ModelServer) -> Model:
    match protocol:
        case "responses":
            return get_model("openai/gpt-5", base_url=server.url, api_key="k", responses_api=True, memoize=False)
        case "messages":
            address, short = server.url.removesuffix("/v1"), GenerateConfig(max_tokens=1000)
            return get_model(
                "anthropic/claude-x", config=short, base_url=address, api_key="k", streaming=False, memoize=False
            )
        case "google":
            address = server.url.removesuffix("/v1")
            return get_model("google/gemini-2.5-pro", base_url=address, api_key="k", memoize=False)
    return get_model("openai-api/podium/scripted", base_url=server.url, api_key="k", memoize=False)


def counter(request: Request, rng: random.Random) -> Reply:
    """Calls the tool, then says what it gave."""
    results = [message for message in request["messages"] if message["role"] == "tool"]
    if results:
        return Reply(f"It said {'forty-two' if '42!' in json.dumps(results) else results}.", input_tokens=150)
    return Reply("Let me count.", calls=(Call("count", {"n": 42}),), input_tokens=110)


def chat(port: int, stream: bool) -> Talk:
    client = openai.OpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key="k", max_retries=0)
    tools: Any = [{"type": "function", "function": {"name": "count", "parameters": SCHEMA}}]
    messages: list[Any] = [{"role": "user", "content": "Count."}]
    texts, tokens, called = [], 0, None
    for _ in range(2):
        if stream:
            with client.chat.completions.stream(
                model="gpt-4o", messages=messages, tools=tools, stream_options={"include_usage": True}
            ) as events:
                for _ in events:
                    pass
                answer: Any = events.get_final_completion()
        else:
            answer = client.chat.completions.create(model="gpt-4o", messages=messages, tools=tools)
        message = answer.choices[0].message
        tokens += answer.usage.total_tokens
        texts.append(message.content)
        messages.append(message.model_dump(exclude_none=True, exclude={"parsed"}))
        for call in message.tool_calls or ():
            called = call.function.name, json.loads(call.function.arguments)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": "42!"})
    assert called is not None
    return Talk(called, texts[-1], tokens)


def responses(port: int, stream: bool) -> Talk:
    client = openai.OpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key="k", max_retries=0)
    tools: Any = [{"type": "function", "name": "count", "parameters": SCHEMA, "strict": False}]
    items: list[Any] = [{"role": "user", "content": "Count."}]
    text, tokens, called = "", 0, None
    for _ in range(2):
        if stream:
            with client.responses.stream(model="gpt-5", input=items, tools=tools) as events:
                for _ in events:
                    pass
                answer: Any = events.get_final_response()
        else:
            answer = client.responses.create(model="gpt-5", input=items, tools=tools)
        text, tokens = answer.output_text, tokens + answer.usage.total_tokens
        items += [item.model_dump(exclude_none=True, exclude={"parsed_arguments"}) for item in answer.output]
        for call in [item for item in answer.output if item.type == "function_call"]:
            called = call.name, json.loads(call.arguments)
            items.append({"type": "function_call_output", "call_id": call.call_id, "output": "42!"})
    assert called is not None
    return Talk(called, text, tokens)


def messages(port: int, stream: bool) -> Talk:
    client = anthropic.Anthropic(base_url=f"http://127.0.0.1:{port}", api_key="k", max_retries=0)
    tools: Any = [{"name": "count", "input_schema": SCHEMA}]
    said: list[Any] = [{"role": "user", "content": "Count."}]
    text, tokens, called = "", 0, None
    for _ in range(2):
        if stream:
            with client.messages.stream(model="claude", max_tokens=500, messages=said, tools=tools) as events:
                answer: Any = events.get_final_message()
        else:
            answer = client.messages.create(model="claude", max_tokens=500, messages=said, tools=tools)
        tokens += answer.usage.input_tokens + answer.usage.output_tokens
        text = "".join(block.text for block in answer.content if block.type == "text")
        blocks = [block.model_dump(include={"type", "text", "id", "name", "input"}) for block in answer.content]
        said.append({"role": "assistant", "content": blocks})
        for call in [block for block in answer.content if block.type == "tool_use"]:
            called = call.name, call.input
            result = {"type": "tool_result", "tool_use_id": call.id, "content": "42!"}
            said.append({"role": "user", "content": [result]})
    assert called is not None
    return Talk(called, text, tokens)


def google(port: int, stream: bool) -> Talk:
    contents: list[Any] = [{"role": "user", "parts": [{"text": "Count."}]}]
    tools = [{"functionDeclarations": [{"name": "count", "parametersJsonSchema": SCHEMA}]}]
    text, tokens, called = "", 0, None
    for _ in range(2):
        verb = "streamGenerateContent?alt=sse" if stream else "generateContent"
        document = {"contents": contents, "tools": tools}
        status, body = post(port, f"/v1beta/models/gemini-2.5-pro:{verb}", document)
        assert status == 200, body
        answer = json.loads(body.removeprefix("data: "))
        tokens += answer["usageMetadata"]["totalTokenCount"]
        parts = answer["candidates"][0]["content"]["parts"]
        text = "".join(part.get("text", "") for part in parts)
        contents.append({"role": "model", "parts": parts})
        for call in [part["functionCall"] for part in parts if "functionCall" in part]:
            called = call["name"], call["args"]
            result = {"functionResponse": {"name": call["name"], "response": {"output": "42!"}}}
            contents.append({"role": "user", "parts": [result]})
    assert called is not None
    return Talk(called, text, tokens)


Client = Callable[[int, bool], Talk]
CLIENTS = [chat, responses, messages, pytest.param(google, marks=pytest.mark.coding)]


def post(port: int, path: str, document: Any) -> tuple[int, str]:
    with closing(http.client.HTTPConnection("127.0.0.1", port)) as connection:
        connection.request("POST", path, json.dumps(document))
        response = connection.getresponse()
        return response.status, response.read().decode()


def with_endpoint(work: Callable[[int], Any], server: ModelServer, model: Model, logs: Path) -> Any:
    """Return the result of some work in a thread while an endpoint serves a model."""
    found: list[Any] = []

    async def serving_() -> None:
        listener = socket.create_server(("127.0.0.1", 0))
        async with gateway_server.serve(listener):
            found.append(await to_thread.run_sync(work, listener.getsockname()[1]))

    in_sample(serving_, server, logs, main=model)
    return found[0]


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("protocol", ALL_PROVIDERS)
def test_any_client_can_use_any_model_with_and_without_streaming(protocol: str, client: Client, tmp_path: Path) -> None:
    with serving(counter) as server:
        model = provider(protocol, server)
        talks = with_endpoint(lambda port: [client(port, stream) for stream in (False, True)], server, model, tmp_path)
    assert talks == 2 * [Talk(("count", {"n": 42}), "It said forty-two.", 110 + 150 + 40)]
    assert server.tokens == sum(talk.tokens for talk in talks)
    offered = [request["tools"][0]["function"] for request in server.requests]
    assert all(tool["parameters"]["properties"]["n"]["type"].lower() == "integer" for tool in offered), offered


@pytest.mark.parametrize("client", CLIENTS)
def test_provider_errors_reach_clients_in_their_protocol(client: Client, tmp_path: Path) -> None:
    def too_long(request: Request, rng: random.Random) -> Fault:
        return Fault(status=400, message="prompt is too long: 9 tokens", code="invalid_request_error")

    def work(port: int) -> str:
        with pytest.raises((openai.BadRequestError, anthropic.BadRequestError, AssertionError)) as caught:
            client(port, True)
        return str(caught.value)

    with serving(too_long) as server:
        said = with_endpoint(work, server, provider("chat", server), tmp_path)
    assert "prompt is too long: 9 tokens" in said


def test_streams_are_kept_alive_while_the_model_thinks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gateway_server, "PING_S", 0.05)

    def slow(request: Request, rng: random.Random) -> Reply:
        return Reply("done", delay_s=0.3)

    def work(port: int) -> tuple[str, str]:
        raw = post(port, "/v1/messages", {"max_tokens": 9, "stream": True, "messages": QUESTION})[1]
        client = openai.OpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key="k", max_retries=0)
        with client.responses.stream(model="x", input="?") as events:
            return raw, events.until_done().get_final_response().output_text

    with serving(slow) as server:
        raw, text = with_endpoint(work, server, provider("chat", server), tmp_path)
    assert raw.count("event: ping") >= 2 and raw.endswith('data: {"type": "message_stop"}\n\n')
    assert text == "done"


QUESTION = [{"role": "user", "content": "word " * 1000}]


def test_token_counts_are_estimated_from_the_last_request(tmp_path: Path) -> None:
    counts = {
        "/v1/messages/count_tokens": {"messages": QUESTION},
        "/v1/responses/input_tokens": {"input": "word " * 1000},
        "/v1beta/models/x:countTokens": {"contents": [{"parts": [{"text": "word " * 1000}]}]},
    }

    def work(port: int) -> tuple[list[int], list[int]]:
        def counted() -> list[int]:
            return [next(iter(json.loads(post(port, path, asked)[1]).values())) for path, asked in counts.items()]

        before = counted()
        post(port, "/v1/messages", {"max_tokens": 9, "messages": QUESTION})
        return before, counted()

    with serving(lambda request, rng: Reply("ok", input_tokens=1000)) as server:
        before, after = with_endpoint(work, server, provider("chat", server), tmp_path)
    assert all(1200 < tokens < 1300 for tokens in before), before
    assert all(950 < tokens < 1050 for tokens in after), after
    assert len(server.requests) == 1


def test_tools_executed_by_the_provider_are_removed(tmp_path: Path) -> None:
    """Without a network inside, a search by the provider would be a way around the sandbox."""
    outside = {
        "/v1/messages": {
            "max_tokens": 9,
            "messages": QUESTION,
            "tools": [{"type": "web_search_20250305", "name": "web_search"}],
            "mcp_servers": [{"type": "url", "name": "far", "url": "https://example.org"}],
        },
        "/v1/responses": {
            "input": "?",
            "tools": [
                {"type": "web_search"},
                {"type": "mcp", "server_label": "far", "server_url": "https://example.org", "allowed_tools": None},
            ],
        },
    }
    for protocol in PROVIDERS:
        with serving(lambda request, rng: "ok") as server:
            statuses = with_endpoint(
                lambda port: [post(port, path, asked)[0] for path, asked in outside.items()],
                server,
                provider(protocol, server),
                tmp_path / protocol,
            )
            assert statuses == [200, 200]
            assert not any(request.get("tools") or request.get("mcp_servers") for request in server.requests)


def test_images_are_never_fetched_for_a_program(tmp_path: Path) -> None:
    """Images given by path or address would be read on the host, where answers and keys are."""
    references: dict[str, tuple[str, dict[str, Any]]] = {
        "/v1/chat/completions": ("messages", {"type": "image_url", "image_url": {"url": "file:///etc/passwd"}}),
        "/v1/responses": ("input", {"type": "input_image", "image_url": "http://169.254.169.254/", "detail": "auto"}),
        "/v1/messages": ("messages", {"type": "image", "source": {"type": "url", "url": "/etc/passwd"}}),
    }

    def work(port: int) -> list[tuple[int, str]]:
        return [
            post(port, path, {"max_tokens": 9, name: [{"role": "user", "content": [part]}]})
            for path, (name, part) in references.items()
        ]

    with serving(lambda request, rng: "ok") as server:
        answers = with_endpoint(work, server, provider("chat", server), tmp_path)
    assert [status for status, _ in answers] == [400] * 3, answers
    assert all("inline" in said for _, said in answers) and not server.requests


def test_model_lists_contain_the_one_model() -> None:
    assert wire_protocols.model_list("chat", "inspect")["data"][0]["id"] == "inspect"
    assert wire_protocols.model_list("google", "inspect")["models"][0]["name"] == "models/inspect"
