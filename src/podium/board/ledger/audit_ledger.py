"""Reads a whole ledger as a stranger would: every line, every signature, and the head that stands for them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from podium.board.keys import Signed
from podium.board.ledger.ledger import LedgerEntry, check_allowed, parse_line, read_board, read_head, read_lines
from podium.board.ledger.merkle_tree import MerkleTree, extends
from podium.board.ledger.statements import Head, Registration, parse_head
from podium.errors import BoardError


@dataclass
class Audit:
    """What was found in a ledger."""

    board: dict[str, str]
    head: Signed | None = None
    entries: list[LedgerEntry] = field(default_factory=list)
    """Those that the head covers."""
    problems: list[str] = field(default_factory=list)
    unsigned: int = 0
    """Lines after the head: written, and not acknowledged yet."""

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
    """Checks a board's folder; nothing but its files and the head is believed.

    Args:
        since: an older head, or one that somebody else was shown: the ledger must begin with what it stands for.
        key: the board's public key, known from elsewhere.
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
        found.problems.append(f"The head stands for {head.size} entries, but there are only {len(tree)}.")
    elif tree.root().hex() != head.root:
        found.problems.append("The entries are not those that the head stands for: some were changed or replaced.")
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
    """What no honest board would have taken in."""
    owners: dict[str, str] = {}
    digests: set[str] = set()
    before = ""
    for entry in entries:
        if entry.time < before:
            yield f"Entry {entry.number} is dated {entry.time}, before the one above it."
        before = max(before, entry.time)
        if entry.digest in digests:
            yield f"Entry {entry.number} repeats an earlier one."
        digests.add(entry.digest)
        if entry.statement.board != board:
            yield f"Entry {entry.number} was said to another board, {entry.statement.board[:16]}."
        named = getattr(entry.statement, "registration", None)
        try:
            check_allowed(entry.signed, entry.statement, owner=owners.get(named or ""), board=board)
        except BoardError as error:
            yield f"Entry {entry.number}: {error}"
        if isinstance(entry.statement, Registration):
            owners[entry.digest] = entry.signed.key


def check_extension(tree: MerkleTree, old: Head, new: Head) -> Iterator[str]:
    """The problem, if there is one, with the claim that a ledger has only grown since an older head."""
    if old.board != new.board:
        yield f"The older head is that of another board, {old.board[:16]}."
    elif old.size > new.size:
        yield f"An older head stands for {old.size} entries, this one for {new.size}: entries were removed."
    elif len(tree) >= new.size and old.size:
        proof = tree.consistency_proof(old.size, new.size)
        if not extends(old.size, bytes.fromhex(old.root), new.size, bytes.fromhex(new.root), proof):
            yield (
                f"The board has signed two histories that contradict each other: of its first {old.size} entries, "
                f"this ledger shows others than the older head of {old.time} stands for."
            )


def parse_old_head(text: str | bytes) -> Head:
    """A head from a file: `head.json`, or a receipt that holds one.

    Raises:
        BoardError: it holds none.
    """
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BoardError(f"This is not the head of a ledger: {error}.") from error
    while isinstance(document, dict) and "statement" not in document:
        inner = document.get("head") or document.get("receipt")
        if inner is None:
            break
        document = inner
    return parse_head(document)[1]
