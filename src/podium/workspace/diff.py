"""The difference between two snapshots, as git shows it."""

from __future__ import annotations

import threading
from pathlib import Path

from podium.workspace import git
from podium.workspace.record import Record
from podium.workspace.snapshots import Snapshot

_OPTIONS = ("--no-ext-diff", "--no-textconv", "--no-color")
_TIME_S = 20.0
_CUT = "\n[the rest of the difference is not shown]\n"


def difference(repository: Path, older: Snapshot, newer: Snapshot, *, limit_bytes: int) -> str:
    """What changed, cut off at a limit; files made to be slow to compare do not hold us either."""
    named = _named_changes(older.record, newer.record)[:limit_bytes]
    process = git.start(repository, "diff", *_OPTIONS, older.tree.hex(), newer.tree.hex())
    assert process.stdout is not None
    timer = threading.Timer(_TIME_S, process.kill)
    timer.start()
    try:
        output = process.stdout.read(limit_bytes + 1)
        is_whole = len(output) <= limit_bytes and process.wait() == 0
    finally:
        timer.cancel()
        git.stop(process)
    return named + output[:limit_bytes].decode("utf-8", "replace") + ("" if is_whole else _CUT)


def _named_changes(older: Record, newer: Record) -> str:
    """What changed among the files that are only named; git's own difference does not show them."""
    before, after = _in_words(older), _in_words(newer)
    paths = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    lines = [f"{path!r}: {before.get(path, 'not there')} -> {after.get(path, 'not there')}\n" for path in paths]
    return "".join(["Not stored, only named:\n", *lines, "\n"]) if lines else ""


def _in_words(record: Record) -> dict[str, str]:
    words = {note.path: note.reason for note in record.left_out}
    for note in record.large:
        words[note.path] = f"{note.size_bytes:,} bytes, sha256 {note.sha256[:12] if note.sha256 else 'unknown'}"
    return words
