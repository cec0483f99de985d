"""The validity checker over real HTTP, asked by clients of all kinds."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from flooding import BODY, CONNECTIONS, attack, dawdle, measured, when_free
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from podium.workspace import validation_server
from podium.workspace.validation_server import Validator

LIMIT = 10_000


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """Port of a validator that accepts only files with the bytes `good`."""
    listener = socket.create_server(("127.0.0.1", 0))

    def check(path: Path) -> str | None:
        return None if path.read_bytes() == b"good" else "it is bad."

    server = Validator(listener, check, limit_bytes=LIMIT)
    yield listener.getsockname()[1]
    server.close()


def ask(
    port: int, body: bytes, *, path: str = "/validate", method: str = "POST", **headers: str
) -> tuple[int, dict[str, str]]:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=600)) as connection:
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        response = connection.getresponse()
        return response.status, json.loads(response.read())


def form(content: bytes, name: str = "file") -> bytes:
    head = f'--mark\r\nContent-Disposition: form-data; name="{name}"; filename="s.csv"\r\n\r\n'
    return head.encode() + content + b"\r\n--mark--\r\n"


FORM = "multipart/form-data; boundary=mark"


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"good", "Submission is valid."), (b"other", "Submission is invalid! it is bad."), (b"", "invalid")],
)
def test_a_form_is_validated(port: int, content: bytes, said: str) -> None:
    status, document = ask(port, form(content), Content_Type=FORM)
    assert status == 200
    assert said in document["result"]


def test_a_bare_body_is_the_file(port: int) -> None:
    assert ask(port, b"good", Content_Type="text/csv") == (200, {"result": "Submission is valid."})


def test_a_form_without_the_field_is_rejected(port: int) -> None:
    status, document = ask(port, form(b"good", name="upload"), Content_Type=FORM)
    assert (status, document["error"]) == (400, "no file")


def test_oversized_requests_are_rejected_unread(port: int) -> None:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=600)) as connection:
        connection.putrequest("POST", "/validate")
        connection.putheader("Content-Length", str(10**12))
        connection.endheaders()
        assert connection.getresponse().status == 413


def test_health_and_unknown_paths(port: int) -> None:
    assert ask(port, b"", path="/health", method="GET") == (200, {"status": "running"})
    assert ask(port, b"", path="/grade")[0] == 404
    assert ask(port, b"", path="/etc/passwd", method="GET")[0] == 404


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(body=st.binary(max_size=300), kind=st.sampled_from([FORM, "multipart/form-data", "text/csv", ""]))
def test_any_body_gets_an_answer(port: int, body: bytes, kind: str) -> None:
    status, _ = ask(port, body, Content_Type=kind)
    assert status in (200, 400)


def test_content_is_passed_on_unchanged(port: int, tmp_path: Path) -> None:
    seen = []
    listener = socket.create_server(("127.0.0.1", 0))
    server = Validator(listener, lambda path: seen.append(path.read_bytes()), limit_bytes=LIMIT)
    for content in (b"a\r\n--mar", b"\r\n\r\n", bytes(range(256)), b"x" * LIMIT):
        ask(listener.getsockname()[1], form(content), Content_Type=FORM)
        assert seen[-1] == content
    server.close()


def test_the_number_of_threads_is_bounded(port: int) -> None:
    with measured() as cost:
        attack(CONNECTIONS, port, 1000)
    assert cost.threads <= validation_server.MAX_CONNECTIONS + 1  # and the one that measures
    assert cost.descriptors <= 2 * validation_server.MAX_CONNECTIONS
    assert when_free(lambda: ask(port, b"good")) == (200, {"result": "Submission is valid."})


def test_an_oversized_body_is_discarded_and_answered(port: int) -> None:
    with measured() as cost:
        said = attack(BODY, port, "/validate", 256 << 20)
    assert "413" in said.splitlines()[0] and "larger than 10,000 bytes" in said
    assert cost.memory_bytes < 64 << 20


@pytest.mark.parametrize("head", [b"POST /val", b"POST /validate HTTP/1.1\r\nContent-Length: 100\r\n\r\n"])
def test_slow_clients_are_dropped(port: int, monkeypatch: pytest.MonkeyPatch, head: bytes) -> None:
    monkeypatch.setattr(validation_server, "RECEIVE_TIMEOUT_S", 0.2)
    dawdle(port, [head], validation_server.MAX_CONNECTIONS)
    monkeypatch.undo()  # an honest client may be slow on a busy machine
    assert when_free(lambda: ask(port, b"good")) == (200, {"result": "Submission is valid."})
