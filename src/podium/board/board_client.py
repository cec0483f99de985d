"""Talks to a board: a folder on this machine, or a service elsewhere. Every answer is checked before it is believed."""

from __future__ import annotations

import http.client
import json
import sqlite3
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, Protocol

from podium.board.bundle import Bundle
from podium.board.keys import HEX64, Key, Signed
from podium.board.ledger.audit_ledger import Audit, audit
from podium.board.ledger.ledger import SEGMENT, SEGMENT_BYTES, Ledger, Receipt, parse_line, read_board
from podium.board.ledger.merkle_tree import includes
from podium.board.ledger.statements import Head, Publication, parse_head, sign
from podium.errors import BoardError, UnreachableError, UsageError

TIMEOUT_S = 20.0
ANSWER_BYTES = 4 << 20


class Board(Protocol):
    """Where statements are appended and read."""

    address: str
    key: str
    """The board's public key."""

    def append(self, signed: Signed) -> Receipt:
        """Appends a statement and gives back the board's receipt, checked.

        Raises:
            UnreachableError: the board does not answer; try again.
            BoardError: it refuses the statement, or its answer proves nothing.
        """
        ...

    def upload(self, bundle: Bundle) -> None:
        """Hands a bundle over, whose publication was appended before."""
        ...

    def read(self, since: Head | None = None) -> Audit:
        """The whole ledger, audited."""
        ...


def open_board(address: str) -> Board:
    """The board at an address: a folder, or http(s)://HOST/PATH, with #KEY at the end if its key is known."""
    if address.startswith(("http://", "https://")):
        return HttpBoard(address)
    if not Path(address).is_dir():
        raise UsageError(f"{address} is not a board: neither a folder nor an address that begins with http.")
    return FolderBoard(Path(address))


class FolderBoard:
    """A board whose folder this process may write."""

    def __init__(self, folder: Path) -> None:
        self.address, self.folder = str(folder), folder
        self.key = read_board(folder)["key"]

    def append(self, signed: Signed) -> Receipt:
        try:
            with closing(Ledger(self.folder)) as ledger:
                [receipt] = ledger.append(signed)
        except (OSError, sqlite3.Error) as error:
            raise UnreachableError(f"{self.folder} cannot be written: {error}") from error
        return receipt

    def upload(self, bundle: Bundle) -> None:
        target = self.folder / "bundles" / f"{bundle.digest}.zip"
        if not target.exists():
            aside = target.with_suffix(".part")
            aside.write_bytes(bundle.path.read_bytes())
            aside.replace(target)

    def read(self, since: Head | None = None) -> Audit:
        return audit(self.folder, since=since)


class HttpBoard:
    """A board that `podium board serve` serves."""

    def __init__(self, address: str) -> None:
        self.address, _, key = address.partition("#")
        self.address = self.address.rstrip("/")
        if key and not HEX64.fullmatch(key):
            raise UsageError(f"{key[:80]!r} is not the public key of a board: it has 64 hexadecimal digits.")
        self.key = key or self._about()["key"]

    def append(self, signed: Signed) -> Receipt:
        answer = self._json("POST", "/statements", json.dumps(signed.to_dict()).encode())
        return check_receipt(answer, signed, self.key)

    def upload(self, bundle: Bundle) -> None:
        with bundle.path.open("rb") as file:
            self._json("PUT", f"/bundles/{bundle.digest}.zip", file, length=bundle.path.stat().st_size)

    def read(self, since: Head | None = None) -> Audit:
        with TemporaryDirectory(prefix="podium-board-") as scratch:
            folder = Path(scratch)
            (folder / "ledger").mkdir()
            board = {**self._about(), "key": self.key}
            head = self._json("GET", "/head.json")
            for name, document in (("board.json", board), ("head.json", head)):
                (folder / name).write_text(json.dumps(document), encoding="utf-8")
            size = parse_head(head)[1].size
            for number in range(-(-size // SEGMENT)):
                name = f"ledger/{number:05}.jsonl"
                with self._open("GET", f"/{name}") as answer:
                    (folder / name).write_bytes(answer.read(SEGMENT_BYTES))
            return audit(folder, since=since, key=self.key)

    def _about(self) -> dict[str, Any]:
        """The name and the public key of the board, as it says them itself."""
        document = self._json("GET", "/board.json")
        key = document.get("key") if isinstance(document, dict) else None
        if not isinstance(key, str) or not HEX64.fullmatch(key):
            raise BoardError(f"{self.address} is not a board: /board.json names no public key.")
        return dict(document)

    def _json(self, method: str, path: str, body: bytes | IO[bytes] | None = None, length: int | None = None) -> Any:
        with self._open(method, path, body, length) as answer:
            data = answer.read(ANSWER_BYTES)
        try:
            return json.loads(data)
        except (ValueError, RecursionError) as error:
            raise UnreachableError(f"{self.address}{path} does not answer as a board does.") from error

    @contextmanager
    def _open(
        self, method: str, path: str, body: bytes | IO[bytes] | None = None, length: int | None = None
    ) -> Iterator[IO[bytes]]:
        request = urllib.request.Request(self.address + path, data=body, method=method)
        request.add_header("Content-Type", "application/octet-stream" if length is not None else "application/json")
        if length is not None:
            request.add_header("Content-Length", str(length))
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
                yield answer
        except urllib.error.HTTPError as error:
            words = error.read(2000).decode("utf-8", "replace").strip()
            kind = UnreachableError if error.code in (408, 429) or error.code >= 500 else BoardError
            raise kind(f"{self.address} refuses ({error.code}): {words}") from error
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise UnreachableError(f"{self.address} cannot be reached: {error}") from error


def hand_in(bundle: Bundle, board: Board, key: Key) -> Receipt:
    """Publishes a bundle on a board: first the signed statement, then the file."""
    said = Publication(board=board.key, bundle=bundle.digest, registration=bundle.manifest.registration)
    receipt = board.append(sign(said, key))
    board.upload(bundle)
    return receipt


def check_receipt(document: Any, signed: Signed, board: str) -> Receipt:
    """A receipt, once it is sure that the board's signed head covers the statement.

    Raises:
        BoardError: it proves nothing.
    """
    match document:
        case {"number": int(number), "line": str(line), "proof": list(proof), "head": dict(head_document)}:
            head_signed, head = parse_head(head_document)
        case _:
            raise BoardError("The board's answer is not a receipt.")
    entry = parse_line(line.encode(), number)
    hashes = [bytes.fromhex(part) for part in proof if isinstance(part, str) and HEX64.fullmatch(part)]
    proven = includes(entry.leaf, number, head.size, hashes, bytes.fromhex(head.root))
    if head.board != board or entry.digest != signed.digest or not proven:
        raise BoardError("The board's receipt does not prove that the statement was taken in.")
    return Receipt(number, line, tuple(part.hex() for part in hashes), head_signed)
