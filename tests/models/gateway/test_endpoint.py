"""The model endpoint under attack, over real HTTP, in a real sample."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from anyio import to_thread
from flooding import BODY, CONNECTIONS, attack, dawdle, measured, when_free
from model_server import Fault, serving, text_of
from talkers import in_sample

from podium.models.gateway import gateway_server, http_limits
from podium.models.gateway.wire_protocols import Failure

Attacks = Callable[[int], Any]


class Watching:
    """Notes why the model gave no answer."""

    def __init__(self) -> None:
        self.failures: list[Failure] = []
        self.spent: str | None = None

    async def asked(self, messages: list[Any]) -> None: ...

    async def answered(self, output: Any) -> None: ...

    async def failed(self, failure: Failure) -> None:
        self.failures.append(failure)

    @contextlib.asynccontextmanager
    async def thinking(self) -> AsyncIterator[None]:
        yield


@pytest.fixture
def watching() -> Watching:
    return Watching()


@pytest.fixture
def under(tmp_path: Path, watching: Watching) -> Callable[[Attacks], Any]:
    """Return a function that runs attacks on an endpoint's port from a thread while it serves."""

    def under_(attacks: Attacks) -> Any:
        found: list[Any] = []

        async def work() -> None:
            listener = socket.create_server(("127.0.0.1", 0))
            port = listener.getsockname()[1]
            async with gateway_server.serve(listener, watching, lambda: watching.spent):
                found.append(await to_thread.run_sync(attacks, port))

        with serving(lambda request, rng: Fault(401, "no such key") if "fail" in text_of(request) else "yes") as server:
            in_sample(work, server, tmp_path)
        return found[0]

    return under_


def ask(port: int, document: Any, path: str = "/v1/chat/completions") -> tuple[int, Any]:
    with closing(http.client.HTTPConnection("127.0.0.1", port)) as connection:
        connection.request("POST", path, document if isinstance(document, bytes) else json.dumps(document))
        response = connection.getresponse()
        return response.status, json.loads(response.read())


QUESTION = {"model": "x", "messages": [{"role": "user", "content": "?"}]}


def test_invalid_requests_are_not_model_failures(
    under: Callable[[Attacks], Any], watching: Watching, monkeypatch: pytest.MonkeyPatch
) -> None:
    strange = {"max_tokens": 9, "messages": [{"role": "narrator", "content": "?"}]}
    unknown = {"input": [{"type": "item_reference", "id": "x"}]}

    def attacks(port: int) -> list[int]:
        statuses = [ask(port, strange, "/v1/messages")[0], ask(port, unknown, "/v1/responses")[0]]
        statuses += [ask(port, document)[0] for document in (b"{", b"[" * 100_000, b"[]", {"messages": 7})]
        with closing(socket.create_connection(("127.0.0.1", port))) as leaving:
            leaving.sendall(b"POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
        monkeypatch.setattr(http_limits, "BODY_TIMEOUT_S", 0.2)
        with closing(socket.create_connection(("127.0.0.1", port))) as dawdling:
            dawdling.sendall(b"POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
            statuses.append(int(dawdling.makefile().readline().split()[1]))
        return statuses

    assert under(attacks) == [400] * 6 + [408]
    assert watching.failures == []


def test_no_model_is_called_once_the_budget_is_used_up(under: Callable[[Attacks], Any], watching: Watching) -> None:
    def attacks(port: int) -> list[int]:
        statuses = [ask(port, QUESTION)[0]]
        watching.spent = "tokens"
        return [*statuses, ask(port, QUESTION)[0]]

    assert under(attacks) == [200, 402]
    assert watching.failures == []


def test_model_failures_are_reported_to_the_observer(under: Callable[[Attacks], Any], watching: Watching) -> None:
    failing = {"model": "x", "messages": [{"role": "user", "content": "fail"}]}
    assert under(lambda port: ask(port, failing)[0]) == 401
    assert [failure.status for failure in watching.failures] == [401]


@pytest.mark.parametrize(("path", "shape"), [("/v1/chat/completions", ["error"]), ("/v1/messages", ["type", "error"])])
def test_an_oversized_body_is_discarded_and_answered_in_the_clients_protocol(
    under: Callable[[Attacks], Any], path: str, shape: list[str]
) -> None:
    def attacks(port: int) -> tuple[str, int]:
        with measured() as cost:
            said = attack(BODY, port, path, 256 << 20)
        assert ask(port, QUESTION)[0] == 200
        return said, cost.memory_bytes

    said, memory_bytes = under(attacks)
    head, _, body = said.partition("\n\n")
    assert " 413 " in head.splitlines()[0]
    assert list(json.loads(body)) == shape and json.loads(body)["error"]["type"] == "request_too_large"
    assert memory_bytes < 2 * http_limits.MAX_BODIES_BYTES


def test_too_many_small_values_are_rejected(under: Callable[[Attacks], Any]) -> None:
    """Ten million empty objects are 30 MB to send and near a gigabyte to hold."""
    status, document = under(lambda port: ask(port, b"[" + b"{}," * (http_limits.MAX_VALUE_STARTS // 2) + b"{}]"))
    assert (status, document["error"]["type"]) == (413, "request_too_large")


@pytest.mark.slow
def test_too_many_connections_are_dropped(under: Callable[[Attacks], Any]) -> None:
    def attacks(port: int) -> tuple[int, int]:
        with measured() as cost:
            attack(CONNECTIONS, port, 1000)
        return cost.descriptors, when_free(lambda: ask(port, QUESTION))[0]

    descriptors, status = under(attacks)
    assert descriptors < 5 * http_limits.MAX_CONNECTIONS  # those just taken and not yet dropped
    assert status == 200


def test_slow_clients_are_dropped(under: Callable[[Attacks], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_limits, "HEAD_TIMEOUT_S", 0.2)
    monkeypatch.setattr(http_limits, "BODY_TIMEOUT_S", 0.2)
    heads = [b"POST /v1", b"POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n"]

    def attacks(port: int) -> int:
        dawdle(port, heads, http_limits.MAX_CONNECTIONS)
        monkeypatch.undo()  # an honest client may be slow on a busy machine
        return when_free(lambda: ask(port, QUESTION))[0]

    assert under(attacks) == 200


def test_the_requests_of_a_run_are_bounded_and_repeated_texts_count_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_limits, "MAX_RUN_BYTES", 100_000)
    texts = http_limits.TextPool()
    for _ in range(100):
        document = {"messages": [{"role": "user", "content": "a" * 10_000}]}
        assert texts.share(document) == document
    with pytest.raises(http_limits.TooLargeError):
        for number in range(100):
            texts.share({"messages": [{"role": "user", "content": str(number) * 10_000}]})
