"""Audit of a ledger: every line, every signature, the order, and the signed head."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from podium.board.keys import Signed
from podium.board.ledger.ledger import LedgerEntry, check_allowed, parse_line, read_board, read_head, read_lines
from podium.board.ledger.merkle import MerkleTree, verify_consistency
from podium.board.ledger.statements import Head, Registration, parse_head
from podium.errors import BoardError


@dataclass
class Audit:
    """Result of an audit."""

    board: dict[str, str]
    head: Signed | None = None
    entries: list[LedgerEntry] = field(default_factory=list)
    """Entries that the head covers."""
    problems: list[str] = field(default_factory=list)
    unsigned: int = 0
    """Number of lines after the head, which are written but not acknowledged yet."""

    @property
    def passed(self) -> bool:
        return not self.problems

    def to_dict(self) -> dict[str, Any]:
        head = self.head.statement if self.head else {}
        return {
            "board": self.board["key"],
            "passed": self.passed,
            "problems": self.problems,
            "size": head.get("size"),
            "root": head.get("root"),
            "time": head.get("time"),
            "unsigned": self.unsigned,
        }


def audit(folder: Path, *, since: Head | None = None, key: str | None = None) -> Audit:
    """Audit a board's folder from its files alone.

    Args:
        since: Older head, or one shown to someone else; the ledger must begin with the entries it covers.
        key: Public key of the board, known from another source.
    """
    found = Audit(read_board(folder))
    try:
        found.head, head = read_head(folder)
        _check_key(found, head, key)
        tree = _read_entries(found, folder, head.size)
    except BoardError as error:
        found.problems.append(str(error))
        return found
    if len(tree) < head.size:
        found.problems.append(f"The signed head covers {head.size} entries, but the ledger has only {len(tree)}.")
    elif tree.root().hex() != head.root:
        found.problems.append("The entries do not match the signed head: some were changed or replaced.")
    found.problems += _problems_of_order(found.entries, head.board)
    if since is not None:
        found.problems += check_extension(tree, since, head)
    return found


def _check_key(found: Audit, head: Head, key: str | None) -> None:
    expected = key or found.board["key"]
    if head.board != expected:
        raise BoardError(f"The head is signed by {head.board[:16]}, not by the board's key {expected[:16]}.")


def _read_entries(found: Audit, folder: Path, size: int) -> MerkleTree:
    tree = MerkleTree()
    for number, line in enumerate(read_lines(folder)):
        if number >= size:
            found.unsigned += 1
            continue
        entry = parse_line(line, number)
        tree.append(entry.leaf)
        found.entries.append(entry)
    return tree


def _problems_of_order(entries: list[LedgerEntry], board: str) -> Iterator[str]:
    """Yield entries that an honest board would have refused."""
    owners: dict[str, str] = {}
    digests: set[str] = set()
    before = ""
    for entry in entries:
        if entry.time < before:
            yield f"Entry {entry.number} is dated {entry.time}, before an earlier entry."
        before = max(before, entry.time)
        if entry.digest in digests:
            yield f"Entry {entry.number} repeats an earlier one."
        digests.add(entry.digest)
        if entry.statement.board != board:
            yield f"Entry {entry.number} is addressed to another board, {entry.statement.board[:16]}."
        named = getattr(entry.statement, "registration", None)
        try:
            check_allowed(entry.signed, entry.statement, owner=owners.get(named or ""), board=board)
        except BoardError as error:
            yield f"Entry {entry.number}: {error}"
        if isinstance(entry.statement, Registration):
            owners[entry.digest] = entry.signed.key


def check_extension(tree: MerkleTree, old: Head, new: Head) -> Iterator[str]:
    """Yield the problem if a ledger is not an extension of an older head."""
    if old.board != new.board:
        yield f"The older head belongs to another board, {old.board[:16]}."
    elif old.size > new.size:
        yield f"The older head covers {old.size} entries, this one only {new.size}: entries were removed."
    elif len(tree) >= new.size and old.size:
        proof = tree.consistency_proof(old.size, new.size)
        if not verify_consistency(old.size, bytes.fromhex(old.root), new.size, bytes.fromhex(new.root), proof):
            yield (
                f"The board has signed two conflicting histories: the first {old.size} entries of this ledger differ "
                f"from those that the older head of {old.time} covers."
            )


def parse_old_head(text: str | bytes) -> Head:
    """Parse a head from `head.json` or from a receipt.

    Raises:
        BoardError: The file contains no head.
    """
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BoardError(f"The file is not the head of a ledger: {error}.") from error
    while isinstance(document, dict) and "statement" not in document:
        inner = document.get("head") or document.get("receipt")
        if inner is None:
            break
        document = inner
    return parse_head(document)[1]
