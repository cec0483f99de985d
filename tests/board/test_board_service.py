"""`podium board serve`: what it acknowledges is there, what is not signed is not taken, nobody takes up too much."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from boards import PUBLISHER, Registered, registration
from starlette.testclient import TestClient

from podium.board.board_client import HttpBoard, check_receipt, hand_in, open_board
from podium.board.board_service import ClientLimits, RateLimit, Service
from podium.board.bundle import Disclosures, write_bundle
from podium.board.keys import make_key
from podium.board.ledger.audit_ledger import audit
from podium.board.ledger.ledger import Ledger, make_board
from podium.board.ledger.merkle import verify_consistency
from podium.board.ledger.statements import Publication, parse_head, sign
from podium.errors import BoardError, UnreachableError, UsageError


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return make_board(tmp_path / "board", "A board")


@contextmanager
def served(ledger: Ledger, limits: ClientLimits | None = None) -> Iterator[TestClient]:
    with TestClient(Service(ledger, limits or ClientLimits()).app()) as client:
        yield client


def test_a_statement_gets_a_receipt_that_can_be_checked(ledger: Ledger) -> None:
    with served(ledger) as client:
        for number in range(3):
            said = registration(ledger, number)
            answer = client.post("/statements", json=said.to_dict())
            assert check_receipt(answer.json(), said, ledger.key.public).number == number
        assert client.get("/health").json()["entries"] == 3
        old, new = 1, 3
        proof = [bytes.fromhex(part) for part in client.get(f"/consistency?old={old}&new={new}").json()["proof"]]
        _, head = parse_head(client.get("/head.json").json())
    first = ledger._tree.root(1)
    assert verify_consistency(old, first, new, bytes.fromhex(head.root), proof)
    assert audit(ledger.folder).passed


def test_a_receipt_for_something_else_is_not_believed(ledger: Ledger) -> None:
    said, other = registration(ledger, 1), registration(ledger, 2)
    [receipt, _] = ledger.append(said, other)
    for document in (receipt.to_dict() | {"number": 1}, receipt.to_dict() | {"proof": []}, {}, None):
        with pytest.raises(BoardError):
            check_receipt(document, said, ledger.key.public)
    for wrong, key in ((other, ledger.key.public), (said, make_key().public)):
        with pytest.raises(BoardError):
            check_receipt(receipt.to_dict(), wrong, key)


def test_unsigned_or_too_large_requests_are_refused(ledger: Ledger) -> None:
    said = registration(ledger).to_dict()
    with served(ledger) as client:
        bodies = [b"", b"[]", b"[" * 100_000, json.dumps({**said, "signature": "0" * 128}).encode()]
        assert [client.post("/statements", content=body).status_code for body in bodies] == [400] * 4
        assert client.post("/statements", content=b"x" * 400_000).status_code == 413
        assert client.get("/ledger/../private/key.pem").status_code == 404
        assert client.get("/ledger/..%2Fprivate%2Fkey.pem").status_code == 404
        assert client.get("/private/key.pem").status_code == 404
        assert client.get("/consistency?old=0&new=9").status_code == 400
        assert client.put(f"/bundles/{'0' * 64}.zip", content=b"x").status_code == 400
        assert client.get("/bundles/key.pem").status_code == 404
    assert len(ledger) == 0


def test_a_client_above_the_rate_limit_is_refused(ledger: Ledger) -> None:
    with served(ledger, ClientLimits(writes_per_s=0.1, burst_s=20)) as client:
        codes = [client.post("/statements", json=registration(ledger, n).to_dict()).status_code for n in range(4)]
    assert codes[0] == 200 and codes[-1] == 429


def test_a_rate_limit_refills_with_time_and_forgets_old_names() -> None:
    limit = RateLimit(2.0, 1.0)
    assert [limit.take("a", 0.0) for _ in range(3)] == [True, True, False]
    assert limit.take("a", 0.5) and not limit.take("a", 0.5)
    for number in range(20_000):
        limit.take(str(number), 1.0)
    assert len(limit._left) <= 10_000


def test_statements_that_come_together_share_a_write(ledger: Ledger) -> None:
    async def send() -> list[int]:
        service = Service(ledger, ClientLimits())
        writer = asyncio.create_task(service._write())
        from podium.board.board_service import Waiting

        loop = asyncio.get_running_loop()
        many = [Waiting(registration(ledger, n), loop.create_future()) for n in range(50)]
        for waiting in many:
            service._queue.put_nowait(waiting)
        answers = await asyncio.gather(*(waiting.answer for waiting in many))
        writer.cancel()
        return [answer.number for answer in answers if not isinstance(answer, BoardError)]

    assert asyncio.run(send()) == list(range(50))


@contextmanager
def process(folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    command = [sys.executable, "-m", "podium", "board", "serve", str(folder), "--port", "0", "--rate", "1000"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield server, server.stdout.readline().strip()
        finally:
            server.kill()


def test_a_bundle_is_handed_in_over_http_and_a_killed_server_has_it_all(
    registered: Registered, ledger: Ledger, tmp_path: Path
) -> None:
    bundle = write_bundle(registered.experiment, tmp_path / "b.zip", PUBLISHER, disclosures=Disclosures())
    with process(ledger.folder) as (server, address):
        board = open_board(f"{address}#{ledger.key.public}")
        receipt = hand_in(bundle, board, PUBLISHER)
        numbers = [board.append(registration(ledger, number)).number for number in range(20)]
        os.kill(server.pid, signal.SIGKILL)
    assert (ledger.folder / "bundles" / f"{bundle.digest}.zip").read_bytes() == bundle.path.read_bytes()
    again = Ledger(ledger.folder)
    assert [receipt.number, *numbers] == list(range(len(again)))
    with process(ledger.folder) as (_, address):
        found = HttpBoard(address).read(parse_head(receipt.head.to_dict())[1])
    assert found.passed and len(found.entries) == 21
    with pytest.raises(UnreachableError):
        HttpBoard(address)
    with pytest.raises(UsageError, match="not a board"):
        open_board(str(tmp_path / "missing"))


@contextmanager
def answering(*answers: bytes) -> Iterator[str]:
    """A server that says these things, one to each who asks."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            for words in answers:
                asked, _ = listener.accept()
                with asked:
                    asked.recv(1 << 16)
                    asked.sendall(words)

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        thread.join()


def said(status: str, body: str) -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n{body}".encode()


HTML = "<html>Sign in</html>"


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (said("408 Request Timeout", "too slow"), UnreachableError),
        (said("503 Service Unavailable", "the disk is full"), UnreachableError),
        (said("200 OK", HTML), UnreachableError),
        (said("200 OK", HTML).replace(b"Length: ", b"Length: 9"), UnreachableError),
        (b"nonsense\r\n\r\n", UnreachableError),
        (said("400 Bad Request", "no such registration"), BoardError),
    ],
    ids=["408", "503", "a proxy's page", "cut off", "no HTTP", "refused"],
)
def test_temporary_errors_differ_from_refusals(ledger: Ledger, answer: bytes, kind: type[BoardError]) -> None:
    with answering(answer) as address, pytest.raises(BoardError) as caught:
        open_board(f"{address}#{ledger.key.public}").append(registration(ledger))
    assert type(caught.value) is kind


def test_a_failed_write_is_retryable_and_the_service_continues(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    troubles = [OSError("disk full"), sqlite3.OperationalError("database is locked"), RuntimeError("odd")]
    write = ledger._write

    def unsteady(lines: Sequence[bytes]) -> None:
        if troubles:
            raise troubles.pop()
        write(lines)

    monkeypatch.setattr(ledger, "_write", unsteady)
    with served(ledger) as client:
        answers = [client.post("/statements", json=registration(ledger).to_dict()).status_code for _ in range(4)]
    assert answers == [503, 503, 503, 200]


@pytest.mark.parametrize("trouble", [OSError("disk full"), sqlite3.OperationalError("database is locked")])
def test_a_folder_that_cannot_be_written_may_be_tried_again(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, trouble: Exception
) -> None:
    def fail(*_: object) -> None:
        raise trouble

    monkeypatch.setattr(Ledger, "_write", fail)
    with pytest.raises(UnreachableError):
        open_board(str(ledger.folder)).append(registration(ledger))


@pytest.mark.parametrize("body", ["[]", "{}", '{"key": "short"}', '{"key": 1}', "3"])
def test_a_board_without_a_public_key_is_refused(body: str) -> None:
    with answering(said("200 OK", body)) as address, pytest.raises(BoardError, match="names no public key"):
        open_board(address)


def test_a_bundle_that_is_not_the_announced_one_is_not_kept(
    registered: Registered, ledger: Ledger, tmp_path: Path
) -> None:
    bundle = write_bundle(registered.experiment, tmp_path / "b.zip", PUBLISHER, disclosures=Disclosures())
    other = write_bundle(registered.experiment, tmp_path / "o.zip", PUBLISHER, disclosures=Disclosures(by="other"))
    ledger.append(sign(Publication(board=ledger.key.public, bundle=bundle.digest, registration=None), PUBLISHER))
    with served(ledger) as client:
        address = f"/bundles/{bundle.digest}.zip"
        assert client.put(address, content=other.path.read_bytes()).status_code == 400
        assert client.put(address, content=b"nonsense").status_code == 400
        assert list((ledger.folder / "bundles").iterdir()) == []
        assert client.put(address, content=bundle.path.read_bytes()).status_code == 200
        assert client.get(address).content == bundle.path.read_bytes()


def test_bundles_leave_room_for_statements(registered: Registered, ledger: Ledger, tmp_path: Path) -> None:
    bundle = write_bundle(registered.experiment, tmp_path / "b.zip", PUBLISHER, disclosures=Disclosures())
    ledger.append(sign(Publication(board=ledger.key.public, bundle=bundle.digest, registration=None), PUBLISHER))
    with served(ledger, ClientLimits(free_bytes=1 << 62)) as client:
        answer = client.put(f"/bundles/{bundle.digest}.zip", content=bundle.path.read_bytes())
        assert (answer.status_code, "no disk space" in answer.text) == (503, True)
        assert client.post("/statements", json=registration(ledger).to_dict()).status_code == 200
    assert list((ledger.folder / "bundles").iterdir()) == []
