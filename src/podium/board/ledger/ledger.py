"""Append-only ledger of a board: plain files and a signed head that covers them.

    BOARD/board.json             the board's name and public key
    BOARD/ledger/00000.jsonl     1,024 entries per file, one line each: {"time": ..., "key", "signature", "statement"}
    BOARD/rules.toml             rules for entries
    BOARD/head.json              the signed head
    BOARD/bundles/DIGEST.zip     published bundles
    BOARD/private/key.pem        private key for heads and decisions; never published
    BOARD/private/index.sqlite   index, rebuilt from the files if missing

An entry is acknowledged after its line and the head were written to disk (fsync). An incomplete last line left by a
killed process was never acknowledged and is truncated; a complete one that the head does not cover yet is kept.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from podium.board.board_rules import RULES_FILE, TEMPLATE
from podium.board.keys import Signed, canonical, make_key, parse_canonical, read_key, write_key
from podium.board.ledger.ledger_index import LedgerIndex
from podium.board.ledger.merkle import MerkleTree, leaf_hash
from podium.board.ledger.statements import (
    STATEMENT_BYTES,
    Anchor,
    DecisionStatement,
    Head,
    Publication,
    Statement,
    Withdrawal,
    parse_head,
    parse_statement,
    sign,
)
from podium.errors import BoardError, UsageError
from podium.safefs.atomic_files import write_atomically
from podium.safefs.locks import explain_full_disk, write_all
from podium.safefs.open_nofollow import open_regular, read_regular
from podium.workspace.journal.events import now
from podium.workspace.journal.hash_chain import sync_folder

SEGMENT = 1024
"""Entries per file."""
LINE_BYTES = STATEMENT_BYTES + 1024
SEGMENT_BYTES = SEGMENT * (LINE_BYTES + 1)
_IGNORED = "private/\n"


@dataclass(frozen=True)
class LedgerEntry:
    """Entry of a ledger."""

    number: int
    time: str
    """Time when the board appended the entry, by the board's clock."""
    signed: Signed
    statement: Statement
    line: bytes

    @property
    def digest(self) -> str:
        return self.signed.digest

    @property
    def leaf(self) -> bytes:
        return leaf_hash(self.line)


@dataclass(frozen=True)
class Receipt:
    """Receipt for a statement: the entry's number and a proof that the signed head covers it."""

    number: int
    line: str
    proof: tuple[str, ...]
    head: Signed

    def to_dict(self) -> dict[str, Any]:
        document = {"number": self.number, "line": self.line, "proof": list(self.proof)}
        return {**document, "head": self.head.to_dict()}


def parse_line(line: bytes, number: int) -> LedgerEntry:
    """Parse a line of the ledger and verify its signature.

    Raises:
        BoardError: The line is malformed, or its signature is invalid.
    """
    try:
        if len(line) > LINE_BYTES:
            raise BoardError(f"The line has {len(line):,} bytes; the limit is {LINE_BYTES:,}.")
        document = parse_canonical(line)
        if not isinstance(document, dict) or not isinstance(document.get("time"), str):
            raise BoardError("It has no time.")
        signed = Signed.from_dict({name: value for name, value in document.items() if name != "time"})
        return LedgerEntry(number, document["time"], signed, parse_statement(signed), line)
    except BoardError as error:
        raise BoardError(f"Entry {number} of the ledger is not valid: {error}") from error


class Ledger:
    """Ledger for appending; a lock serialises several processes."""

    def __init__(self, folder: Path) -> None:
        """
        Raises:
            BoardError: The folder is not a board, or its private key is missing.
        """
        self.folder = folder
        self.board = read_board(folder)
        self.key = read_key(folder / "private" / "key.pem")
        if self.key.public != self.board["key"]:
            raise BoardError(f"{folder / 'private/key.pem'} is not the key of this board.")
        self.index = LedgerIndex(folder / "private" / "index.sqlite")
        self._tree = MerkleTree(self.index.leaves())
        self._time = self.index.last_time()
        try:
            self._catch_up_now()
        except BoardError:
            self.index.clear()  # the index may be wrong: rebuild it from the files
            self._tree, self._time = MerkleTree(), ""
            self._catch_up_now()

    def __len__(self) -> int:
        return len(self._tree)

    def close(self) -> None:
        self.index.close()

    def append(self, *statements: Signed) -> list[Receipt]:
        """Append statements durably. A statement that is already in the ledger is acknowledged again.

        Raises:
            BoardError: A statement is not allowed on this board.
        """
        receipts = []
        for answer in self.answer(statements):
            if isinstance(answer, BoardError):
                raise answer
            receipts.append(answer)
        return receipts

    def answer(self, statements: Sequence[Signed]) -> list[Receipt | BoardError]:
        """Append all allowed statements with one write to disk and return a receipt or an error for each."""
        refused: dict[int, BoardError] = {}
        with self._locked(), explain_full_disk(self.folder):
            new: dict[str, LedgerEntry] = {}
            for place, signed in enumerate(statements):
                digest = signed.digest
                if digest not in new and self.index.find(digest) is None:
                    try:
                        new[digest] = self._entry(signed, len(self) + len(new), new)
                    except BoardError as error:
                        refused[place] = error
            if new:
                self._write([entry.line for entry in new.values()])
                self._take_in(list(new.values()))
                self._sign_head()
            head = self.head()
        return [
            refused.get(place) or self._receipt(signed.digest, new.get(signed.digest), head)
            for place, signed in enumerate(statements)
        ]

    def head(self) -> Signed:
        """Return the newest signed head."""
        return read_head(self.folder)[0]

    def prove_consistency(self, old: int, new: int) -> list[str]:
        """Return a proof that the ledger of `new` entries begins with that of `old`."""
        return [part.hex() for part in self._tree.consistency_proof(old, new)]

    def _receipt(self, digest: str, new: LedgerEntry | None, head: Signed) -> Receipt:
        number = new.number if new else self.index.require(digest)
        line = new.line if new else read_line(self.folder, number)
        proof = self._tree.inclusion_proof(number, head.statement["size"])
        return Receipt(number, line.decode("ascii"), tuple(part.hex() for part in proof), head)

    def _entry(self, signed: Signed, number: int, pending: dict[str, LedgerEntry]) -> LedgerEntry:
        statement = parse_statement(signed)
        if statement.board != self.board["key"]:
            raise BoardError(f"The statement is for board {statement.board[:16]}, not {self.board['key'][:16]}.")
        registration = getattr(statement, "registration", None)
        owner = self._owner(registration, pending) if registration else None
        check_allowed(signed, statement, owner=owner, board=self.board["key"])
        self._time = max(now(), self._time)
        line = canonical({"time": self._time, **signed.to_dict()})
        if len(line) > LINE_BYTES:
            raise BoardError(f"The statement has {len(line):,} bytes; the limit is {STATEMENT_BYTES:,}.")
        return LedgerEntry(number, self._time, signed, statement, line)

    def _owner(self, registration: str, pending: dict[str, LedgerEntry]) -> str | None:
        entry = pending.get(registration)
        return entry.signed.key if entry is not None else self.index.key_of(registration)

    def _catch_up_now(self) -> None:
        with self._locked():
            pass

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the exclusive lock, after reading entries appended by other processes."""
        with (self.folder / "private" / "lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            self._catch_up()
            yield

    def _catch_up(self) -> None:
        _, head = read_head(self.folder)
        lines = list(self._new_lines())
        if lines:
            start = len(self)
            self._take_in([parse_line(line, start + place) for place, line in enumerate(lines)])
        if head.size > len(self) or self._tree.root(head.size).hex() != head.root:
            raise BoardError(f"The ledger files of {self.folder} do not match the signed head: {_ADVICE}")
        if head.size < len(self):
            self._sign_head()  # a process was killed between writing lines and signing

    def _new_lines(self) -> Iterator[bytes]:
        """Yield the lines missing from the index, and truncate an incomplete last line."""
        number = len(self)
        while (path := segment_path(self.folder, number)).exists():
            with os.fdopen(open_regular(path, os.O_RDWR), "r+b") as file:
                data = file.read(SEGMENT_BYTES)
                if file.read(1):  # unread lines may be acknowledged: never truncate them
                    raise BoardError(f"{path} is larger than {SEGMENT:,} entries can be: {_ADVICE}")
                if not data.endswith(b"\n"):
                    data = data[: data.rfind(b"\n") + 1]
                    file.truncate(len(data))
            lines = data.split(b"\n")[:-1]
            if len(lines) < number % SEGMENT:
                raise BoardError(f"{path} is shorter than it was: {_ADVICE}")
            yield from lines[number % SEGMENT :]
            if len(lines) < SEGMENT:
                return
            number += len(lines) - number % SEGMENT

    def _write(self, lines: Sequence[bytes]) -> None:
        number = len(self)
        while lines:
            room = SEGMENT - number % SEGMENT
            path = segment_path(self.folder, number)
            descriptor = open_regular(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            try:
                write_all(descriptor, b"".join(line + b"\n" for line in lines[:room]))
                os.fdatasync(descriptor)
            finally:
                os.close(descriptor)
            if room == SEGMENT:
                sync_folder(path.parent)
            number, lines = number + room, lines[room:]

    def _take_in(self, entries: Sequence[LedgerEntry]) -> None:
        self.index.add(entries)
        for entry in entries:
            self._tree.append(entry.leaf)
        self._time = entries[-1].time

    def _sign_head(self) -> None:
        head = Head(board=self.key.public, size=len(self), root=self._tree.root().hex(), time=max(now(), self._time))
        write_atomically(self.folder / "head.json", json.dumps(sign(head, self.key).to_dict(), indent=1) + "\n")


_ADVICE = "entries were changed or removed. List the problems with: podium board audit, and restore a backup."


def check_allowed(signed: Signed, statement: Statement, *, owner: str | None, board: str) -> None:
    """Check that a key may make a statement.

    Args:
        owner: Key that signed the registration named by the statement; None if there is none.

    Raises:
        BoardError: The key may not make this statement.
    """
    if isinstance(statement, DecisionStatement) and signed.key != board:
        raise BoardError("A decision about a bundle must be signed with the board's key.")
    if isinstance(statement, Anchor | Withdrawal) or (isinstance(statement, Publication) and statement.registration):
        if owner is None:
            raise BoardError(f"Registration {statement.registration} does not exist on this board.")
        if owner != signed.key:
            raise BoardError("The registration was signed by another key.")


def make_board(folder: Path, name: str) -> Ledger:
    """Create an empty board.

    Raises:
        UsageError: The folder is not empty.
    """
    if folder.exists() and any(folder.iterdir()):
        raise UsageError(f"{folder} is not empty. Choose a new folder for the board.")
    key = make_key()
    for part in ("ledger", "bundles", "private"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    (folder / "private").chmod(0o700)
    write_key(key, folder / "private" / "key.pem")
    head = Head(board=key.public, size=0, root=MerkleTree().root().hex(), time=now())
    write_atomically(folder / "head.json", json.dumps(sign(head, key).to_dict(), indent=1) + "\n")
    write_atomically(folder / ".gitignore", _IGNORED)
    write_atomically(folder / RULES_FILE, TEMPLATE.format(name=name.replace('"', "'")))
    board = {"name": name, "key": key.public, "created": now()}
    write_atomically(folder / "board.json", json.dumps(board, indent=1) + "\n")
    return Ledger(folder)


def read_board(folder: Path) -> dict[str, str]:
    """Read the name and the public key of a board.

    Raises:
        BoardError: The folder is not a board.
    """
    document = _read_json(folder / "board.json", f"{folder} is not a board")
    if not isinstance(document, dict) or not all(isinstance(document.get(name), str) for name in ("name", "key")):
        raise BoardError(f"{folder / 'board.json'} is damaged: it lacks a name or a key.")
    return document


def read_head(folder: Path) -> tuple[Signed, Head]:
    """Read the head of a board and verify that it is signed by the key it names."""
    return parse_head(_read_json(folder / "head.json", f"{folder} has no head"))


def _read_json(path: Path, problem: str) -> Any:
    try:
        return json.loads(read_regular(path, LINE_BYTES))
    except OSError as error:
        hint = f"{path} cannot be read ({error.strerror}). Create a board with: podium board init DIR"
        raise BoardError(f"{problem}: {hint}") from error
    except (ValueError, RecursionError) as error:
        raise BoardError(f"{problem}: {path} is damaged ({error}).") from error


def segment_path(folder: Path, number: int) -> Path:
    """Return the file that contains an entry."""
    return folder / "ledger" / f"{number // SEGMENT:05}.jsonl"


def read_lines(folder: Path) -> Iterator[bytes]:
    """Yield all complete lines of a ledger, unparsed."""
    number = 0
    while (path := segment_path(folder, number)).exists():
        try:
            data = read_regular(path, SEGMENT_BYTES)
        except OSError as error:
            raise BoardError(f"{path} cannot be read: {error.strerror}.") from error
        yield from data.split(b"\n")[:-1]
        number += SEGMENT


def read_line(folder: Path, number: int) -> bytes:
    """Return one line of a ledger."""
    lines = read_regular(segment_path(folder, number), SEGMENT_BYTES).split(b"\n")
    return lines[number % SEGMENT]
