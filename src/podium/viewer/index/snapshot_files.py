"""Files and diffs of workspace snapshots, read from a run's history and never from its folders on disk."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

from podium.runs.run_folder import RunFolder
from podium.viewer.shown_text import Clip, clip, clip_bytes, looks_binary
from podium.workspace.history.extract_file import Extracted
from podium.workspace.history.history import History, StoredFile

SHOWN_BYTES = 2_000_000
"""Maximum size of a file that is shown; larger ones can only be downloaded."""
SHOWN_NAMES = 1_000
SHOWN_DIFF_LINES = 1_500
DIFF_LINE_CHARACTERS = 500


class FolderItem(NamedTuple):
    """File or subfolder in a folder."""

    path: str
    name: str
    files: int
    """Number of files in a folder; 0 for a file."""
    size_bytes: int
    kind: str
    reason: str | None

    @property
    def is_folder(self) -> bool:
        return self.files > 0


@dataclass(frozen=True)
class FolderListing:
    """Folder of a workspace."""

    folder: str
    items: list[FolderItem]
    total: int


@dataclass(frozen=True)
class ShownFile:
    """File of a workspace as a page shows it."""

    path: str
    found: Extracted
    content: Clip | None = None
    is_binary: bool = False


class DiffLine(NamedTuple):
    kind: Literal["file", "hunk", "added", "removed", "same", "note"]
    text: str


@dataclass(frozen=True)
class Diff:
    lines: list[DiffLine]
    added: int
    removed: int
    is_whole: bool


def history_of(run: RunFolder) -> History:
    """Return the snapshots of a run, read-only."""
    return run.read_history()


def list_folder(run: RunFolder, commit: str, folder: str) -> FolderListing:
    """List a folder in a snapshot, subfolders first; `folder` is empty or ends with a slash."""
    found: dict[str, FolderItem] = {}
    for file in _files(run.path, commit):
        if not file.path.startswith(folder) or file.path == folder:
            continue
        name, slash, _ = file.path[len(folder) :].partition("/")
        size = file.size_bytes or 0
        if slash:
            before = found.get(name)
            files, sizes = (before.files, before.size_bytes) if before else (0, 0)
            found[name] = FolderItem(f"{folder}{name}/", name, files + 1, sizes + size, "folder", None)
        else:
            found.setdefault(name, FolderItem(file.path, name, 0, size, file.kind, file.reason))
    items = sorted(found.values(), key=lambda each: (not each.is_folder, each.name))
    return FolderListing(folder, items[:SHOWN_NAMES], len(items))


@lru_cache(maxsize=4)
def _files(run: Path, commit: str) -> list[StoredFile]:
    return history_of(RunFolder(run)).files(commit)


def show_file(run: RunFolder, commit: str, path: str) -> ShownFile:
    """Return a file of a snapshot by its exact path."""
    with extracted(run, commit, path, SHOWN_BYTES) as (found, copy):
        if not found.is_file:
            return ShownFile(path, found)
        data = copy.read_bytes()
    if looks_binary(data):
        return ShownFile(path, found, is_binary=True)
    return ShownFile(path, found, clip_bytes(data, len(data)))


@contextmanager
def extracted(run: RunFolder, commit: str, path: str, limit_bytes: int) -> Iterator[tuple[Extracted, Path]]:
    """Extract a file of a snapshot to a temporary file whose name does not depend on `path`."""
    with tempfile.TemporaryDirectory(prefix="podium-view-") as folder:
        target = Path(folder, "content")
        yield history_of(run).extract(commit, path, target, limit_bytes), target


def read_blob(run: RunFolder, identity: str) -> bytes:
    """Return a blob stored beside the snapshots: a long action or observation, or an agent's state.

    Raises:
        RecordError: The blob is missing, damaged or too large.
    """
    return history_of(run).get(identity)


def diff(run: RunFolder, older: str, newer: str) -> Diff:
    """Return the line diff of two snapshots."""
    text = history_of(run).diff(older, newer)
    lines = list(_diff_lines(text))
    return Diff(
        lines[:SHOWN_DIFF_LINES],
        sum(line.kind == "added" for line in lines),
        sum(line.kind == "removed" for line in lines),
        is_whole=len(lines) <= SHOWN_DIFF_LINES and all(len(line.text) < DIFF_LINE_CHARACTERS for line in lines),
    )


def _diff_lines(text: str) -> Iterator[DiffLine]:
    in_hunk = False
    for line in text.split("\n"):
        shown = clip(line, DIFF_LINE_CHARACTERS)
        text_shown = shown.text if shown.is_whole else shown.text + "…"
        if line.startswith("diff --git "):
            in_hunk = False
            yield DiffLine("file", _file_name(text_shown.removeprefix("diff --git ")))
        elif line.startswith("@@"):
            in_hunk = True
            yield DiffLine("hunk", text_shown)
        elif in_hunk and line.startswith(("+", "-")):
            yield DiffLine("added" if line[:1] == "+" else "removed", text_shown)
        elif in_hunk and line.startswith(" "):
            yield DiffLine("same", text_shown)
        elif line and not line.startswith(("index ", "--- ", "+++ ")):
            yield DiffLine("note", text_shown)


def _file_name(names: str) -> str:
    """Return the file of "a/NAME b/NAME", or both names if it was renamed."""
    half = len(names) // 2
    before, after = names[:half], names[half + 1 :]
    return after.removeprefix("b/") if before[2:] == after[2:] else names
