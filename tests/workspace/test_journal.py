"""What was journalled stays journalled, and what was altered shows."""

from __future__ import annotations

import hashlib
import json
import os
import random
import resource
from pathlib import Path

import pytest
from crashing import run_and_kill

from podium.errors import RecordError, UsageError
from podium.workspace.journal import START, Journal, read_journal

FIELDS = [
    {"action": "list"},
    {"action": "write", "text": 'é\n\udcff"}{', "n2": None},
    {"nested": {"n": 1, "previous": "x"}},
    {},
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with Journal.open(tmp_path / "run" / "steps.jsonl") as journal:
        for fields in FIELDS:
            journal.append(fields)
    return tmp_path / "run" / "steps.jsonl"


def test_lines_carry_the_hash_of_the_line_before(path: Path) -> None:
    previous = START
    for number, raw in enumerate(path.read_bytes().splitlines(), start=1):
        line = json.loads(raw)
        assert (line["n"], line["previous"]) == (number, previous)
        previous = hashlib.sha256(raw).hexdigest()
    assert read_journal(path).head == previous


def test_lines_come_back_as_they_were_appended(path: Path) -> None:
    lines = read_journal(path)
    assert [line.fields for line in lines] == FIELDS
    assert lines.read(2).n == 2
    assert lines.torn is None
    with pytest.raises(RecordError, match="there is no line 5"):
        lines.read(5)


def test_a_journal_opened_again_goes_on(path: Path) -> None:
    with Journal.open(path) as journal:
        line = journal.append({"more": 1})
        assert (line.n, journal.head) == (5, line.sha256)
        assert journal.read(5) == line
    assert len(read_journal(path)) == 5


def test_a_journal_torn_at_any_byte_opens_to_its_whole_lines(path: Path, in_memory: Path) -> None:
    whole = path.read_bytes()
    torn_path = in_memory / "torn.jsonl"
    for length in range(len(whole)):
        torn_path.write_bytes(whole[:length])
        kept = whole[: whole[:length].rfind(b"\n") + 1]
        assert len(read_journal(torn_path)) == kept.count(b"\n")
        assert torn_path.read_bytes() == whole[:length], "reading alone changes nothing"
        with Journal.open(torn_path) as journal:
            assert torn_path.read_bytes() == kept
            if kept == whole[:length]:
                assert journal.torn is None
            else:
                assert journal.torn is not None and journal.torn.kept_in is not None
                assert journal.torn.kept_in.read_bytes() == whole[len(kept) : length]
                journal.torn.kept_in.unlink()
            journal.append({"after": length})
        assert read_journal(torn_path).torn is None


def test_any_altered_byte_is_noticed(path: Path, in_memory: Path) -> None:
    whole, dice = path.read_bytes(), random.Random(0)
    for position in range(len(whole)):
        altered = bytearray(whole)
        altered[position] ^= dice.randrange(1, 256)
        copy = in_memory / f"{position}.jsonl"
        copy.write_bytes(altered)
        if whole[:position].count(b"\n") < len(FIELDS) - 1:
            with pytest.raises(RecordError, match=r"Line \d of"):
                Journal.open(copy)
        else:
            with Journal.open(copy) as journal:
                assert [line.fields for line in journal] == FIELDS[:-1]
                assert journal.torn is not None and journal.torn.kept_in is not None


def test_a_line_altered_with_its_check_breaks_the_chain(path: Path) -> None:
    lines = path.read_bytes().splitlines()
    body = lines[1][: -len(', "check": ""}') - 16].replace(b"write", b"wrote")
    lines[1] = body + b', "check": "%s"}' % hashlib.sha256(body).hexdigest()[:16].encode()
    path.write_bytes(b"\n".join(lines) + b"\n")
    with pytest.raises(RecordError, match=r"Line 3 of .* does not carry the hash of the line before"):
        read_journal(path)


def test_lines_removed_or_swapped_are_noticed(path: Path) -> None:
    first, second, third, fourth = path.read_bytes().splitlines(keepends=True)
    for lines in ([first, third, fourth], [second, first, third, fourth], [first, b"\n", second]):
        path.write_bytes(b"".join(lines))
        with pytest.raises(RecordError, match="is damaged"):
            read_journal(path)


@pytest.mark.parametrize("garbage", [b"\0" * 4096, b"{}\n", b"\n", b"\n\n", b"\xff\n\xfe", b"null\n", b'{"n": 5}\n'])
def test_garbage_at_the_end_is_cut_off_and_kept(path: Path, garbage: bytes) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole + garbage)
    for _ in range(2):
        with Journal.open(path) as journal:
            assert len(journal) == len(FIELDS)
    assert path.read_bytes() == whole
    assert [each.read_bytes() for each in path.parent.glob("*.torn-*")] == [garbage]


def test_a_line_altered_after_opening_is_not_believed(path: Path) -> None:
    lines = read_journal(path)
    path.write_bytes(path.read_bytes().replace(b"list", b"lost"))
    with pytest.raises(RecordError, match=r"Line 1 of .* has been altered"):
        lines.read(1)


@pytest.mark.parametrize("fields", [{"n": 1}, {"previous": ""}, {"check": ""}, {"x": float("nan")}, {"x": object()}])
def test_fields_that_cannot_be_written_are_refused(path: Path, fields: dict[str, object]) -> None:
    before = path.read_bytes()
    with Journal.open(path) as journal, pytest.raises(UsageError):
        journal.append(fields)
    assert path.read_bytes() == before


def test_a_journal_that_is_not_there_is_not_made_by_reading(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="There is no journal"):
        read_journal(tmp_path / "steps.jsonl")
    assert list(tmp_path.iterdir()) == []


def test_one_process_writes_at_a_time(path: Path) -> None:
    with Journal.open(path), pytest.raises(RecordError, match="Another process is writing"):
        Journal.open(path, patience_s=0)


def test_a_full_disk_leaves_the_journal_as_it_was(path: Path) -> None:
    before = path.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Journal.open(path) as journal:
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 100, limits[1]))
        try:
            with pytest.raises(RecordError, match="disk is full"):
                journal.append({"observation": "x" * 1000})
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert path.read_bytes() == before
        journal.append({"observation": "x" * 1000})
    assert len(read_journal(path)) == len(FIELDS) + 1


def test_an_interrupted_append_leaves_no_trace_in_the_next(path: Path) -> None:
    with Journal.open(path) as journal:
        with path.open("ab") as file:
            file.write(b'{"n": 5, "previous"')
        journal.append({"more": 1})
    assert len(read_journal(path)) == len(FIELDS) + 1


def test_kill_9_loses_nothing_that_was_appended(tmp_path: Path) -> None:
    path, told = tmp_path / "steps.jsonl", 0

    def append(report: int) -> None:
        journal = Journal.open(path)
        while True:
            journal.append({"observation": "x" * random.randrange(20_000)})
            os.write(report, b".")

    for seed in range(10):
        told += len(run_and_kill(append, seed=seed, within_s=0.1))
        with Journal.open(path) as journal:
            assert len(journal) >= told
            told = len(journal)
