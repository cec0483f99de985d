"""The ledger: it only grows, survives being killed, and an audit sees every change."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import boards
import pytest
from boards import PUBLISHER, anchor, registration

from podium.board.keys import Signed, make_key
from podium.board.ledger.audit_ledger import audit, parse_old_head
from podium.board.ledger.ledger import LINE_BYTES, SEGMENT, SEGMENT_BYTES, Ledger, make_board, read_lines, segment_path
from podium.board.ledger.merkle import leaf_hash, verify_inclusion
from podium.board.ledger.statements import DecisionStatement, Publication, parse_head, sign
from podium.errors import BoardError, UsageError


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return make_board(tmp_path / "board", "A board")


def fill(ledger: Ledger, count: int) -> list[Signed]:
    said = [registration(ledger, number) for number in range(count)]
    ledger.append(*said)
    return said


def test_a_receipt_proves_that_the_signed_head_covers_the_entry(ledger: Ledger) -> None:
    fill(ledger, 5)
    [receipt] = ledger.append(registration(ledger, 9))
    _, head = parse_head(receipt.head.to_dict())
    proof = [bytes.fromhex(part) for part in receipt.proof]
    leaf = leaf_hash(receipt.line.encode())
    assert receipt.number == 5
    assert verify_inclusion(leaf, receipt.number, head.size, proof, bytes.fromhex(head.root))


def test_the_same_statement_twice_is_one_entry(ledger: Ledger) -> None:
    said = registration(ledger)
    first, second = ledger.append(said, said)
    [third] = Ledger(ledger.folder).append(said)
    assert first.number == second.number == third.number == 0
    assert len(ledger) == 1


def test_entries_go_on_in_the_next_file(ledger: Ledger) -> None:
    fill(ledger, SEGMENT - 1)
    ledger.append(*(registration(ledger, SEGMENT + number) for number in range(3)))
    assert segment_path(ledger.folder, SEGMENT).read_bytes().count(b"\n") == 2
    again = Ledger(ledger.folder)
    assert len(again) == SEGMENT + 2
    (again.folder / "private" / "index.sqlite").unlink()
    assert len(Ledger(ledger.folder)) == SEGMENT + 2, "the index is made again from the files"
    assert audit(ledger.folder).passed


def test_two_processes_append_in_turn(ledger: Ledger) -> None:
    other = Ledger(ledger.folder)
    ledger.append(registration(ledger, 1))
    other.append(registration(ledger, 2))
    [receipt] = ledger.append(registration(ledger, 3))
    assert receipt.number == 2
    assert audit(ledger.folder).passed


@pytest.mark.parametrize("lost", ["a torn line", "a whole line", "the index"])
def test_a_ledger_recovers_from_a_killed_process(ledger: Ledger, lost: str) -> None:
    fill(ledger, 2)
    path = segment_path(ledger.folder, 0)
    if lost == "the index":
        for file in (ledger.folder / "private").glob("index.sqlite*"):
            file.unlink()
    else:
        head = (ledger.folder / "head.json").read_text()
        ledger.append(registration(ledger, 7))
        (ledger.folder / "head.json").write_text(head)
        for file in (ledger.folder / "private").glob("index.sqlite*"):
            file.unlink()
        if lost == "a torn line":
            path.write_bytes(path.read_bytes()[:-5])
    assert audit(ledger.folder).passed, "an entry that was not acknowledged is no fault"
    again = Ledger(ledger.folder)
    assert len(again) == (3 if lost == "a whole line" else 2)
    again.append(registration(ledger, 8))
    assert audit(ledger.folder).passed


def test_an_index_that_is_wrong_is_made_again(ledger: Ledger) -> None:
    fill(ledger, 3)
    ledger.index._database.execute("UPDATE entries SET leaf = x'00' WHERE number = 1")
    ledger.index._database.commit()
    Ledger(ledger.folder).append(registration(ledger, 9))
    assert audit(ledger.folder).passed


def test_files_that_are_shorter_than_their_head_are_noticed(ledger: Ledger) -> None:
    fill(ledger, 3)
    path = segment_path(ledger.folder, 0)
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:2]))
    with pytest.raises(BoardError, match="podium board audit"):
        Ledger(ledger.folder)


def test_a_full_segment_is_read_and_a_longer_one_is_never_truncated(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert SEGMENT_BYTES >= SEGMENT * (LINE_BYTES + 1)
    fill(ledger, 3)
    before = segment_path(ledger.folder, 0).read_bytes()
    monkeypatch.setattr("podium.board.ledger.ledger.SEGMENT_BYTES", len(before) - 1)
    with pytest.raises(BoardError, match="larger than 1,024 entries"):
        Ledger(ledger.folder)
    assert segment_path(ledger.folder, 0).read_bytes() == before


def test_only_those_concerned_may_say_something(ledger: Ledger) -> None:
    board = ledger.key.public
    [mine] = fill(ledger, 1)
    stranger = make_key()
    refused = [
        anchor(ledger, mine, stranger),
        anchor(ledger, registration(ledger, 99)),
        sign(DecisionStatement(board=board, bundle="0" * 64, verdict="accepted", reason=""), PUBLISHER),
        sign(Publication(board=board, bundle="0" * 64, registration=mine.digest), stranger),
        sign(Publication(board="1" * 64, bundle="0" * 64, registration=None), PUBLISHER),
        PUBLISHER.sign({"kind": "gossip", "board": board}),
    ]
    for said in refused:
        with pytest.raises(BoardError):
            ledger.append(said)
    ledger.append(anchor(ledger, mine))
    assert len(ledger) == 2


def rewrite(ledger: Ledger, change: Callable[[list[bytes]], list[bytes]]) -> None:
    path = segment_path(ledger.folder, 0)
    path.write_bytes(b"".join(line + b"\n" for line in change(path.read_bytes().split(b"\n")[:-1])))


CHANGES: dict[str, Callable[[list[bytes]], list[bytes]]] = {
    "removed": lambda lines: lines[:2] + lines[3:],
    "cut": lambda lines: lines[:-1],
    "reordered": lambda lines: [lines[1], lines[0], *lines[2:]],
    "repeated": lambda lines: [*lines[:3], lines[0], *lines[4:]],
    "redated": lambda lines: [lines[0].replace(b'"time":"20', b'"time":"19'), *lines[1:]],
    "edited": lambda lines: [lines[0].replace(b'"seeds":1', b'"seeds":2'), *lines[1:]],
    "spaced": lambda lines: [lines[0].replace(b'"seeds":1', b'"seeds": 1'), *lines[1:]],
}


@pytest.mark.parametrize("kind", CHANGES)
def test_an_audit_detects_every_change(ledger: Ledger, kind: str) -> None:
    fill(ledger, 5)
    assert audit(ledger.folder).passed
    rewrite(ledger, CHANGES[kind])
    assert not audit(ledger.folder).passed


def resign(ledger: Ledger) -> Ledger:
    """The keeper of the board signs a new head for whatever the files hold now."""
    for file in (ledger.folder / "private").glob("index.sqlite*"):
        file.unlink()
    empty = make_board(ledger.folder.parent / f"empty-{ledger.folder.name}", "Empty").head().statement
    (ledger.folder / "head.json").write_text(
        json.dumps(ledger.key.sign({**empty, "board": ledger.key.public}).to_dict())
    )
    return Ledger(ledger.folder)


@pytest.mark.parametrize("kind", ["removed", "cut", "reordered"])
def test_a_history_that_was_rewritten_and_signed_again_contradicts_an_old_head(ledger: Ledger, kind: str) -> None:
    fill(ledger, 5)
    old = parse_old_head(json.dumps(ledger.head().to_dict()))
    [receipt] = ledger.append(registration(ledger, 50))
    assert audit(ledger.folder, since=old).passed
    rewrite(ledger, CHANGES[kind])
    resign(ledger)
    shown = parse_old_head(json.dumps(receipt.to_dict()))
    assert not audit(ledger.folder, since=shown).passed


def test_a_head_of_another_board_is_refused(ledger: Ledger, tmp_path: Path) -> None:
    other = make_board(tmp_path / "other", "Another")
    fill(other, 1)
    old = parse_old_head(json.dumps(other.head().to_dict()))
    assert not audit(ledger.folder, since=old).passed
    assert not audit(ledger.folder, key=other.key.public).passed


def test_a_statement_that_was_made_to_another_board_is_noticed(ledger: Ledger, tmp_path: Path) -> None:
    other = make_board(tmp_path / "other", "Another")
    fill(ledger, 2)
    fill(other, 1)
    rewrite(ledger, lambda lines: [*lines, *read_lines(other.folder)])
    resign(ledger)
    assert audit(ledger.folder).problems == [f"Entry 2 is addressed to another board, {other.key.public[:16]}."]


def test_a_board_is_made_in_an_empty_folder_only(ledger: Ledger) -> None:
    with pytest.raises(UsageError, match="not empty"):
        make_board(ledger.folder, "Again")
    with pytest.raises(BoardError, match="podium board init"):
        audit(ledger.folder / "ledger")


KILLED = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from boards import registration
from podium.board.ledger.ledger import Ledger
ledger = Ledger(Path(sys.argv[1]))
for number in range(100_000):
    [receipt] = ledger.append(registration(ledger, number))
    print(receipt.number, flush=True)
"""


def test_a_kill_loses_nothing_that_was_acknowledged(ledger: Ledger) -> None:
    command = [sys.executable, "-c", KILLED, ledger.folder, Path(boards.__file__).parent]
    for least in (1, 3, 9):
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            acknowledged = [int(process.stdout.readline()) for _ in range(least)]
            os.kill(process.pid, signal.SIGKILL)
            acknowledged += [int(line) for line in process.stdout.read().split()]
        assert len(Ledger(ledger.folder)) > acknowledged[-1]
        assert audit(ledger.folder).passed
