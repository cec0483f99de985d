"""Differences between two snapshots as a unified diff, bounded in time and memory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

from rapidfuzz.distance import LCSseq

from podium.workspace.history.blob_reader import BlobReader
from podium.workspace.history.file_records import SnapshotRecord
from podium.workspace.history.snapshot_manifest import SnapshotEntry, SnapshotState, differences

_CUT = "\n[the rest of the diff is not shown]\n"
_MAX_FILES = 8_000
_MAX_FILE_BYTES = 2 << 20
"""Larger files are not compared line by line."""
_MAX_BYTES = 1 << 26
_MAX_PRODUCT = 400_000_000
"""Largest product of two files' line counts that is compared exactly; the comparison needs a bit for each pair."""
_CONTEXT = 3
_MODES = {"file": "100644", "executable": "100755", "link": "120000"}


def difference(blobs: BlobReader, older: SnapshotState, newer: SnapshotState, *, limit_bytes: int) -> str:
    """Return the changes as text, cut at a limit."""
    pieces, size = [_recorded_changes(older.record, newer.record)], 0
    for piece in _changes(blobs, older, newer):
        pieces.append(piece)
        size += len(piece)
        if size > limit_bytes:
            break
    text = "".join(pieces)
    return text if len(text) <= limit_bytes else text[:limit_bytes] + _CUT


def _changes(blobs: BlobReader, older: SnapshotState, newer: SnapshotState) -> Iterator[str]:
    read_bytes = 0
    changed = sorted(differences(older.entries, newer.entries))
    files = [path for path in changed if not _is_folder_only(older.entries.get(path), newer.entries.get(path))]
    for number, path in enumerate(files):
        before, after = (_file(entries.get(path)) for entries in (older.entries, newer.entries))
        read_bytes += sum(min(entry.size_bytes, _MAX_FILE_BYTES) for entry in (before, after) if entry)
        if number >= _MAX_FILES or read_bytes > _MAX_BYTES:
            yield _CUT
            return
        yield from _file_change(blobs, _quoted(path), before, after)


def _is_folder_only(*entries: SnapshotEntry | None) -> bool:
    return all(entry is None or entry.kind == "folder" for entry in entries)


def _file(entry: SnapshotEntry | None) -> SnapshotEntry | None:
    return None if entry is None or entry.kind == "folder" else entry


def _quoted(path: bytes) -> str:
    """Return a path for display; one with control characters or invalid UTF-8 is escaped."""
    name = os.fsdecode(path)
    return name if name.isprintable() else repr(name)[1:-1]


def _file_change(
    blobs: BlobReader, path: str, before: SnapshotEntry | None, after: SnapshotEntry | None
) -> Iterator[str]:
    yield f"diff --git a/{path} b/{path}\n"
    if before is None and after is not None:
        yield f"new file mode {_MODES[after.kind]}\n"
    elif after is None and before is not None:
        yield f"deleted file mode {_MODES[before.kind]}\n"
    elif before is not None and after is not None and before.kind != after.kind:
        yield f"old mode {_MODES[before.kind]}\nnew mode {_MODES[after.kind]}\n"
    if before is not None and after is not None and before.id == after.id:
        return
    names = ("/dev/null" if before is None else f"a/{path}", "/dev/null" if after is None else f"b/{path}")
    texts = [_lines(blobs, entry) for entry in (before, after)]
    if any(text is None for text in texts):
        yield f"Binary files {names[0]} and {names[1]} differ\n"
        return
    old, new = (text or [] for text in texts)
    if not old and not new:
        return
    yield f"--- {names[0]}\n+++ {names[1]}\n"
    yield from unified(old, new)


def _lines(blobs: BlobReader, entry: SnapshotEntry | None) -> list[str] | None:
    """Return the lines of a file, or None if it is binary or too large."""
    if entry is None:
        return []
    if blobs.size(entry.id) > _MAX_FILE_BYTES:
        return None
    data = blobs.read(entry.id)
    if b"\0" in data[:8000]:
        return None
    lines = data.decode("utf-8", "replace").split("\n")
    if lines[-1]:
        lines[-1] += "\n\\ No newline at end of file"
    else:
        lines.pop()
    return lines


class _Edit(NamedTuple):
    old: range
    new: range


def unified(old: list[str], new: list[str]) -> Iterator[str]:
    """Yield the hunks of a unified diff with three lines of context.

    >>> print("".join(unified(["a", "b", "c"], ["a", "B", "c"])), end="")
    @@ -1,3 +1,3 @@
     a
    -b
    +B
     c
    """
    hunk: list[_Edit] = []
    for edit in _edits(old, new):
        if hunk and edit.old.start - hunk[-1].old.stop > 2 * _CONTEXT:
            yield _hunk(old, new, hunk)
            hunk = []
        hunk.append(edit)
    if hunk:
        yield _hunk(old, new, hunk)


def _edits(old: list[str], new: list[str]) -> Iterator[_Edit]:
    """Yield the ranges of lines that differ."""
    start, end = _common_ends(old, new)
    before, after = old[start : len(old) - end], new[start : len(new) - end]
    if len(before) * len(after) > _MAX_PRODUCT or not (before and after):
        if before or after:
            yield _Edit(range(start, start + len(before)), range(start, start + len(after)))
        return
    numbers: dict[str, int] = {}
    coded = [[numbers.setdefault(line, len(numbers)) for line in lines] for lines in (before, after)]
    edit: _Edit | None = None
    for step in LCSseq.opcodes(*coded):
        if step.tag == "equal":
            continue
        old_range = range(start + step.src_start, start + step.src_end)
        new_range = range(start + step.dest_start, start + step.dest_end)
        if edit and (edit.old.stop, edit.new.stop) == (old_range.start, new_range.start):
            edit = _Edit(range(edit.old.start, old_range.stop), range(edit.new.start, new_range.stop))
        else:
            if edit:
                yield edit
            edit = _Edit(old_range, new_range)
    if edit:
        yield edit


def _common_ends(old: list[str], new: list[str]) -> tuple[int, int]:
    """Return the number of equal lines at the start and at the end."""
    shorter = min(len(old), len(new))
    start = next((n for n in range(shorter) if old[n] != new[n]), shorter)
    end = next((n for n in range(shorter - start) if old[-1 - n] != new[-1 - n]), shorter - start)
    return start, end


def _hunk(old: list[str], new: list[str], edits: list[_Edit]) -> str:
    first, last = edits[0], edits[-1]
    before = min(_CONTEXT, first.old.start)
    after = min(_CONTEXT, len(old) - last.old.stop)
    lines = [
        "@@ -"
        + _range(first.old.start - before, last.old.stop + after)
        + " +"
        + _range(first.new.start - before, last.new.stop + after)
        + " @@"
    ]
    at = first.old.start - before
    for edit in edits:
        lines += [f" {line}" for line in old[at : edit.old.start]]
        lines += [f"-{old[n]}" for n in edit.old]
        lines += [f"+{new[n]}" for n in edit.new]
        at = edit.old.stop
    lines += [f" {line}" for line in old[at : at + after]]
    return "\n".join(lines) + "\n"


def _range(start: int, stop: int) -> str:
    count = stop - start
    return f"{start + 1 if count else start},{count}".removesuffix(",1")


def _recorded_changes(older: SnapshotRecord, newer: SnapshotRecord) -> str:
    """Return the changes of files that are recorded without content."""
    before, after = _states(older), _states(newer)
    paths = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    lines = [f"{path!r}: {before.get(path, 'absent')} -> {after.get(path, 'absent')}\n" for path in paths]
    return "".join(["Recorded without content:\n", *lines, "\n"]) if lines else ""


def _states(record: SnapshotRecord) -> dict[str, str]:
    states = {note.path: note.reason for note in record.left_out}
    for note in record.large:
        states[note.path] = f"{note.size_bytes:,} bytes, sha256 {note.sha256[:12] if note.sha256 else 'unknown'}"
    return states
