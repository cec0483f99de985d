"""Client of a board in a local folder or behind a web service. Every response is verified."""

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
from podium.board.ledger.merkle import verify_inclusion
from podium.board.ledger.statements import Head, Publication, parse_head, sign
from podium.errors import BoardError, UnreachableError, UsageError

TIMEOUT_S = 20.0
ANSWER_BYTES = 4 << 20


class Board(Protocol):
    """Interface of a board."""

    address: str
    key: str
    """Public key of the board."""

    def append(self, signed: Signed) -> Receipt:
        """Append a statement and return the board's verified receipt.

        Raises:
            UnreachableError: The board does not respond; try again.
            BoardError: The board refuses the statement, or its receipt is invalid.
        """
        ...

    def upload(self, bundle: Bundle) -> None:
        """Upload a bundle whose publication was appended before."""
        ...

    def read(self, since: Head | None = None) -> Audit:
        """Return the audited ledger."""
        ...


def open_board(address: str) -> Board:
    """Open the board at a folder or at http(s)://HOST/PATH, with #KEY at the end to pin its key."""
    if address.startswith(("http://", "https://")):
        return HttpBoard(address)
    if not Path(address).is_dir():
        raise UsageError(f"{address} is not a board: it is neither a folder nor an http(s) address.")
    return FolderBoard(Path(address))


class FolderBoard:
    """Board in a folder that this process can write."""

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
    """Board behind `podium board serve`."""

    def __init__(self, address: str) -> None:
        self.address, _, key = address.partition("#")
        self.address = self.address.rstrip("/")
        if key and not HEX64.fullmatch(key):
            raise UsageError(f"{key[:80]!r} is not a board's public key, which has 64 hexadecimal digits.")
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
        """Return the name and the public key that the board claims."""
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
            raise UnreachableError(
                f"{self.address}{path} did not return JSON. Check the address of the board."
            ) from error

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
    """Publish a bundle on a board: first the signed statement, then the file."""
    said = Publication(board=board.key, bundle=bundle.digest, registration=bundle.manifest.registration)
    receipt = board.append(sign(said, key))
    board.upload(bundle)
    return receipt


def check_receipt(document: Any, signed: Signed, board: str) -> Receipt:
    """Return a receipt after verifying that the board's signed head covers the statement.

    Raises:
        BoardError: The receipt is invalid.
    """
    match document:
        case {"number": int(number), "line": str(line), "proof": list(proof), "head": dict(head_document)}:
            head_signed, head = parse_head(head_document)
        case _:
            raise BoardError("The board's response is not a receipt.")
    entry = parse_line(line.encode(), number)
    hashes = [bytes.fromhex(part) for part in proof if isinstance(part, str) and HEX64.fullmatch(part)]
    proven = verify_inclusion(entry.leaf, number, head.size, hashes, bytes.fromhex(head.root))
    if head.board != board or entry.digest != signed.digest or not proven:
        raise BoardError("The board's receipt does not prove that the statement was recorded.")
    return Receipt(number, line, tuple(part.hex() for part in hashes), head_signed)
