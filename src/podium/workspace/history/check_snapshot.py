"""Integrity check of snapshots: every object is present and matches its hash."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from podium.errors import RecordError
from podium.workspace.history.git import git_objects
from podium.workspace.history.git.git_reader import Reader
from podium.workspace.history.snapshots import read_snapshot

_MAX_PATH_CHARACTERS = 300


def find_problems(reader: Reader, commit: str) -> list[str]:
    """Return a message for each problem of a snapshot and its ancestors."""
    return _Check(reader).run(commit)


@dataclass(slots=True)
class _Check:
    reader: Reader
    problems: list[str] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)

    def run(self, commit: str) -> list[str]:
        pending = [commit]
        while pending:
            current = pending.pop()
            if current in self.seen:
                continue
            self.seen.add(current)
            try:
                content = git_objects.decode_commit(self.reader.read(current, git_objects.COMMIT))
                self._tree(read_snapshot(self.reader, current).tree, f"snapshot {current[:12]}")
            except RecordError as error:
                self.problems.append(f"snapshot {current[:12]}: {error}")
            else:
                pending += content.parents
        return self.problems

    def _tree(self, tree: bytes, place: str) -> None:
        pending = [(git_objects.FOLDER, tree, place)]
        while pending:
            mode, identity, path = pending.pop()
            if identity.hex() in self.seen:
                continue
            self.seen.add(identity.hex())
            try:
                if mode == git_objects.FOLDER:
                    entries = git_objects.decode_tree(self.reader.read(identity.hex(), git_objects.TREE))
                    pending += [(entry.mode, entry.id, _below(path, entry.name)) for entry in entries]
                elif self.reader.stream(identity.hex(), len) != git_objects.BLOB:
                    self.problems.append(f"{path!r}: object {identity.hex()} is not a file.")
            except RecordError as error:
                self.problems.append(f"{path!r}: {error}")


def _below(path: str, name: bytes) -> str:
    """Append a name to a path for messages; long paths keep only their end, since every tree entry has one."""
    path = f"{path}/{os.fsdecode(name)}"
    return path if len(path) <= _MAX_PATH_CHARACTERS else f"…{path[-_MAX_PATH_CHARACTERS:]}"
