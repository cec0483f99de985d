"""Diff of two snapshots in git's format.

The differing objects are first copied to a new repository, so that git reads nothing a hostile party has prepared.
"""

from __future__ import annotations

import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path

from podium.errors import RecordError
from podium.workspace.history.file_records import SnapshotRecord
from podium.workspace.history.git import git_objects, git_program
from podium.workspace.history.git.git_objects import Packable, TreeEntry
from podium.workspace.history.git.git_reader import Reader
from podium.workspace.history.snapshots import MAX_TREE_DEPTH, SnapshotContent, read_tree

_OPTIONS = ("--no-ext-diff", "--no-textconv", "--no-color", "--submodule=short")
_TIME_S = 20.0
_CUT = "\n[the rest of the diff is not shown]\n"
_COMPARED_BYTES = 2 << 20
"""Larger files are not compared line by line."""
_MAX_FILES = 8_000
_MAX_ENTRIES_READ = 1_000_000
"""Maximum number of entries read in folders that differ: hostile trees can repeat one subtree without end."""
_MAX_COPIED_BYTES = 1 << 26


def diff_snapshots(reader: Reader, older: SnapshotContent, newer: SnapshotContent, *, limit_bytes: int) -> str:
    """Return the diff, cut at a limit; the time and size of the comparison are bounded."""
    named = _named_changes(older.record, newer.record)[:limit_bytes]
    with tempfile.TemporaryDirectory(prefix="podium-diff-") as folder:
        git_program.make_directory(Path(folder))
        copy = _Copy(reader)
        trees = copy.differing(older.tree, newer.tree)
        copy.write(Path(folder, "objects", "pack"))
        output, is_whole = _compare(Path(folder), *trees, limit_bytes)
    return named + output + ("" if is_whole and copy.is_whole else _CUT)


def _compare(repository: Path, older: bytes, newer: bytes, limit_bytes: int) -> tuple[str, bool]:
    """Return the output of `git diff`, and whether it is complete."""
    process = git_program.start(repository, "diff", *_OPTIONS, older.hex(), newer.hex())
    assert process.stdout is not None
    timer = threading.Timer(_TIME_S, process.kill)
    timer.start()
    try:
        output = process.stdout.read(limit_bytes + 1)
        is_whole = len(output) <= limit_bytes and process.wait() == 0
    finally:
        timer.cancel()
        git_program.stop(process)
    return output[:limit_bytes].decode("utf-8", "replace"), is_whole


@dataclass(slots=True)
class _Copy:
    """Copies of two trees, limited to the entries that differ."""

    reader: Reader
    copied: dict[bytes, Packable] = field(default_factory=dict)
    files: int = 0
    """Number of files and folders."""
    looked_at: int = 0
    size_bytes: int = 0

    @property
    def is_whole(self) -> bool:
        """True if everything that differs was copied."""
        return self.files <= _MAX_FILES and self.looked_at <= _MAX_ENTRIES_READ

    def differing(self, older: bytes | None, newer: bytes | None, depth: int = 0) -> tuple[bytes, bytes]:
        """Copy the differing entries of two trees and return the ids of both copies."""
        if depth > MAX_TREE_DEPTH:
            raise RecordError(f"Snapshots are at most {MAX_TREE_DEPTH} folders deep, but this one is deeper.")
        before, after = self._entries(older), self._entries(newer)
        self.files, self.looked_at = self.files + 1, self.looked_at + len(before) + len(after)
        pairs: tuple[list[TreeEntry], list[TreeEntry]] = ([], [])
        for name in sorted(before.keys() | after.keys()):
            old, new = before.get(name), after.get(name)
            if old != new and self.is_whole:
                for side, entry in zip(pairs, self._pair(name, old, new, depth), strict=True):
                    side += [] if entry is None else [entry]
        first, second = (self._add(git_objects.TREE, git_objects.encode_tree(side)) for side in pairs)
        return first, second

    def write(self, folder: Path) -> None:
        """Write everything that was copied as one pack."""
        pack = git_objects.encode_pack(list(self.copied.values()))
        (folder / f"pack-{pack.name}.pack").write_bytes(pack.content)
        (folder / f"pack-{pack.name}.idx").write_bytes(pack.table)

    def _pair(
        self, name: bytes, old: TreeEntry | None, new: TreeEntry | None, depth: int
    ) -> tuple[TreeEntry | None, TreeEntry | None]:
        folders = [entry.id if entry and entry.mode == git_objects.FOLDER else None for entry in (old, new)]
        trees = self.differing(folders[0], folders[1], depth + 1) if any(folders) else (b"", b"")
        made = [
            entry and TreeEntry(entry.mode, name, tree if entry.mode == git_objects.FOLDER else self._file(entry))
            for entry, tree in zip((old, new), trees, strict=True)
        ]
        return made[0], made[1]

    def _entries(self, tree: bytes | None) -> dict[bytes, TreeEntry]:
        return {} if tree is None else {entry.name: entry for entry in read_tree(self.reader, tree)}

    def _file(self, entry: TreeEntry) -> bytes:
        """Copy a file and return its id; a file too large to compare becomes one that git treats as binary."""
        self.files += 1
        size = self.reader.size(entry.id.hex())
        self.size_bytes += min(size, _COMPARED_BYTES)
        if size > _COMPARED_BYTES or self.size_bytes > _MAX_COPIED_BYTES:
            return self._add(git_objects.BLOB, b"\0" + entry.id)
        return self._add(git_objects.BLOB, self.reader.read(entry.id.hex(), git_objects.BLOB))

    def _add(self, kind: bytes, data: bytes) -> bytes:
        identity = git_objects.object_id(kind, data)
        self.copied[identity] = Packable(identity, kind, len(data), data)
        return identity


def _named_changes(older: SnapshotRecord, newer: SnapshotRecord) -> str:
    """Return the changes of files recorded without content, which are not part of git's diff."""
    before, after = _in_words(older), _in_words(newer)
    paths = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    lines = [f"{path!r}: {before.get(path, 'absent')} -> {after.get(path, 'absent')}\n" for path in paths]
    return "".join(["Files without stored content:\n", *lines, "\n"]) if lines else ""


def _in_words(record: SnapshotRecord) -> dict[str, str]:
    words = {note.path: note.reason for note in record.left_out}
    for note in record.large:
        words[note.path] = f"{note.size_bytes:,} bytes, sha256 {note.sha256[:12] if note.sha256 else 'unknown'}"
    return words
