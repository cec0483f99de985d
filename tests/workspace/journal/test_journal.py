"""The journal keeps what was appended and reveals what was altered."""

from __future__ import annotations

import hashlib
import json
import os
import random
import resource
from pathlib import Path

import pytest
from crashing import run_and_kill

from podium.errors import RecordError
from podium.workspace.budget import Usage
from podium.workspace.journal.events import Action, Event, Fork, Snapshot, Step
from podium.workspace.journal.hash_chain import MAX_LINE_BYTES, START
from podium.workspace.journal.journal import Journal, JournalFollower, copy_lines, read_journal, read_last_event
from podium.workspace.journal.observations import TextResult


def step(text: str = "", /, **arguments: object) -> Step:
    """A step whose action and observation are given."""
    return Step(
        time="2026-01-02T03:04:05.000+00:00",
        usage=Usage(working_s=1.5, steps=1),
        action=Action(name="write", arguments=arguments),
        observation=TextResult(text=text),
        seconds=0.25,
        snapshot="0" * 64,
        state="1" * 64,
        decision=1,
        index=0,
        count=1,
    )


def snapshot(commit: str = "2" * 64) -> Snapshot:
    return Snapshot(time="2026-01-02T03:04:06.000+00:00", usage=Usage(), snapshot=commit)


EVENTS: list[Event] = [
    snapshot(),
    step('é\n"}{', text='é\n\udcff"}{', n2=None),
    step(nested={"n": 1, "previous": "x"}),
    Fork(time="2026-01-02T03:04:07.000+00:00", usage=Usage(), source_run="a/b/0", source_step=3, seed=0),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with Journal.open(tmp_path / "run" / "steps.jsonl") as journal:
        for event in EVENTS:
            journal.append(event)
    return tmp_path / "run" / "steps.jsonl"


def test_each_line_contains_the_hash_of_the_previous_line(path: Path) -> None:
    previous = START
    for number, raw in enumerate(path.read_bytes().splitlines(), start=1):
        line = json.loads(raw)
        assert (line["n"], line["previous"]) == (number, previous)
        previous = hashlib.sha256(raw).hexdigest()
    assert read_journal(path).head == previous


def test_events_round_trip(path: Path) -> None:
    journal = read_journal(path)
    assert list(journal) == EVENTS
    assert [line.n for line in journal.lines()] == [1, 2, 3, 4]
    assert (journal.read(2), journal.last, journal.all_of(Step)) == (EVENTS[1], EVENTS[3], EVENTS[1:3])
    assert journal.snapshot == "0" * 64, "that of the newest event which has one"
    assert journal.torn is None
    with pytest.raises(RecordError, match="there is no line 5"):
        journal.read(5)


def test_a_journal_without_a_start_event_is_rejected(path: Path) -> None:
    with pytest.raises(RecordError, match="begins with 'snapshot' instead of 'start'"):
        _ = read_journal(path).start


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"snapshot": "2', '"snapshop": "2'),
        ('"kind": "snapshot"', '"kind": "photo"'),
        ('"usage": {', '"usage": {"x": 1, '),
        ('"time"', '"tame"'),
    ],
)
def test_renamed_missing_and_additional_fields_are_errors(path: Path, old: str, new: str) -> None:
    lines = path.read_bytes().splitlines()
    body = lines[0][: -len(', "check": ""}') - 16].decode().replace(old, new, 1).encode()
    path.write_bytes(body + b', "check": "%s"}\n' % hashlib.sha256(body).hexdigest()[:16].encode())
    journal = read_journal(path)
    with pytest.raises(RecordError, match=r"Line 1 of .* is malformed: not an event of journal format 4"):
        list(journal)
    with pytest.raises(RecordError, match=r"Line 1 of .* is malformed"):
        JournalFollower(path).update()


def test_a_reopened_journal_continues(path: Path) -> None:
    with Journal.open(path) as journal:
        assert journal.append(snapshot()) == 5
        assert journal.read(5) == snapshot()
    assert len(read_journal(path)) == 5


def test_a_journal_torn_at_any_byte_keeps_its_complete_lines(path: Path, in_memory: Path) -> None:
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
            journal.append(snapshot())
        assert read_journal(torn_path).torn is None


def test_any_altered_byte_is_detected(path: Path, in_memory: Path) -> None:
    whole, dice = path.read_bytes(), random.Random(0)
    for position in range(len(whole)):
        altered = bytearray(whole)
        altered[position] ^= dice.randrange(1, 256)
        copy = in_memory / f"{position}.jsonl"
        copy.write_bytes(altered)
        if whole[:position].count(b"\n") < len(EVENTS) - 1:
            with pytest.raises(RecordError, match=r"Line \d of"):
                Journal.open(copy)
        else:
            with Journal.open(copy) as journal:
                assert list(journal) == EVENTS[:-1]
                assert journal.torn is not None and journal.torn.kept_in is not None


def test_a_line_altered_with_its_check_breaks_the_chain(path: Path) -> None:
    lines = path.read_bytes().splitlines()
    body = lines[1][: -len(', "check": ""}') - 16].replace(b"write", b"wrote")
    lines[1] = body + b', "check": "%s"}' % hashlib.sha256(body).hexdigest()[:16].encode()
    path.write_bytes(b"\n".join(lines) + b"\n")
    with pytest.raises(RecordError, match=r"Line 3 of .* does not contain the hash of the previous line"):
        read_journal(path)


def test_removed_and_swapped_lines_are_detected(path: Path) -> None:
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
            assert len(journal) == len(EVENTS)
    assert path.read_bytes() == whole
    assert [each.read_bytes() for each in path.parent.glob("*.torn-*")] == [garbage]


def test_a_line_altered_after_opening_is_rejected(path: Path) -> None:
    journal = read_journal(path)
    path.write_bytes(path.read_bytes().replace(b"2222", b"2322"))
    with pytest.raises(RecordError, match=r"Line 1 of .* has been altered"):
        journal.read(1)


def test_an_event_too_long_for_a_line_is_rejected(path: Path) -> None:
    before = path.read_bytes()
    with Journal.open(path) as journal, pytest.raises(RecordError, match="too long"):
        journal.append(step("x" * MAX_LINE_BYTES))
    assert path.read_bytes() == before


def test_a_line_that_podium_would_not_write_is_rejected(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"x" * (2 * MAX_LINE_BYTES))
    for read in (read_journal, lambda path: JournalFollower(path).update()):
        with pytest.raises(RecordError, match="a line of more than"):
            read(path)


def test_a_line_number_with_thousands_of_digits_is_rejected(path: Path) -> None:
    start = b'{"n": ' + b"1" * 5000 + b', "previous": "' + b"0" * 64 + b'", "kind": "end"'
    path.write_bytes(start + b', "check": "%s"}\n' % hashlib.sha256(start).hexdigest()[:16].encode())
    torn = read_journal(path).torn
    assert torn is not None and torn.reason == "it is not a journal line"


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_anything_but_a_regular_file_is_rejected_immediately(tmp_path: Path, path: Path, kind: str) -> None:
    strange = tmp_path / "strange"
    match kind:
        case "link":
            strange.symlink_to(path)
        case "pipe":
            os.mkfifo(strange)
        case "folder":
            strange.mkdir()
    for read in (read_journal, read_last_event, lambda path: JournalFollower(path).update()):
        with pytest.raises(RecordError, match=r"There is no journal|is not a regular file"):
            read(strange)


def test_a_follower_reads_new_lines_and_starts_over_when_the_journal_is_replaced(path: Path) -> None:
    follower = JournalFollower(path).update()
    assert [(entry.line, entry.action, entry.working_s) for entry in follower.steps] == [
        (2, "write", 1.5),
        (3, "write", 1.5),
    ]
    assert follower.step(1) == EVENTS[1]
    with path.open("ab") as file:
        file.write(b'{"n": 5, "previous')  # being written
    assert len(follower.update()) == 4
    with Journal.open(path) as journal:
        journal.append(step("later", number=7))
    assert [entry.script for entry in follower.update().steps] == [None, None, 7]
    assert follower.size_bytes == path.stat().st_size
    with pytest.raises(RecordError, match="3 steps so far; there is no step 4"):
        follower.step(4)
    path.unlink()
    with Journal.open(path) as journal:
        journal.append(snapshot())
    assert (len(follower.update()), follower.steps) == (1, [])


def test_the_last_event_is_read_without_the_others(path: Path, tmp_path: Path) -> None:
    assert read_last_event(path) == EVENTS[-1]
    with path.open("ab") as file:
        file.write(b'{"n": 5')
    assert read_last_event(path) == EVENTS[-1]
    empty = tmp_path / "empty"
    empty.touch()
    assert read_last_event(empty) is None


def test_copied_lines_form_a_valid_journal(path: Path, tmp_path: Path) -> None:
    copy_lines(read_journal(path), tmp_path / "copy.jsonl", 2)
    with Journal.open(tmp_path / "copy.jsonl") as journal:
        assert list(journal) == EVENTS[:2]
        assert journal.append(snapshot()) == 3


def test_reading_does_not_create_a_journal(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="There is no journal"):
        read_journal(tmp_path / "steps.jsonl")
    assert list(tmp_path.iterdir()) == []


def test_only_one_process_writes_at_a_time(path: Path) -> None:
    with Journal.open(path), pytest.raises(RecordError, match="Another process is writing"):
        Journal.open(path, patience_s=0)


def test_a_full_disk_leaves_the_journal_as_it_was(path: Path) -> None:
    before = path.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Journal.open(path) as journal:
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 100, limits[1]))
        try:
            with pytest.raises(RecordError, match="disk is full"):
                journal.append(step("x" * 1000))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert path.read_bytes() == before
        journal.append(step("x" * 1000))
    assert len(read_journal(path)) == len(EVENTS) + 1


def test_an_interrupted_append_does_not_affect_the_next(path: Path) -> None:
    with Journal.open(path) as journal:
        with path.open("ab") as file:
            file.write(b'{"n": 5, "previous"')
        journal.append(snapshot())
    assert len(read_journal(path)) == len(EVENTS) + 1


def test_kill_9_loses_no_appended_event(tmp_path: Path) -> None:
    path, told = tmp_path / "steps.jsonl", 0

    def append(report: int) -> None:
        journal = Journal.open(path)
        while True:
            journal.append(step("x" * random.randrange(20_000)))
            os.write(report, b".")

    for seed in range(10):
        told += len(run_and_kill(append, seed=seed, within_s=0.1))
        with Journal.open(path) as journal:
            assert len(journal) >= told
            told = len(journal)
