"""Run folder: paths of its files, and safe reading of files that may be hostile."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from podium.errors import RecordError
from podium.runs.records import CurvePoint, RunRecord
from podium.safefs.atomic_files import write_atomically
from podium.safefs.neutral_paths import belongs_to, make_neutral
from podium.safefs.open_nofollow import is_folder, open_folder, read_regular
from podium.workspace.history.history import History
from podium.workspace.journal.journal import Journal, JournalReader, read_journal

WORKSPACES = ".workspaces"
"""Folder of the workspaces mounted into sandboxes, beside the experiment; its subfolders have neutral names."""
MAX_DOCUMENT_BYTES, MAX_CURVE_BYTES = 8 << 20, 64 << 20
MAX_DECISION_BYTES = 256 << 20
"""Maximum size of a decision: models may write several long programs at a time."""
_MAX_NUMBER = 1 << 53
"""Largest number accepted in a document."""
_PLACE_FILE = ".place"
_PLACE = re.compile(r"[0-9a-f]{16}")
Document = TypeVar("Document", bound=BaseModel)
_CURVE = TypeAdapter(tuple[CurvePoint, ...])


class _Inside:
    """A path inside the run's folder, computed on access, since lists of thousands of runs use only a few."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, run: RunFolder, owner: type) -> Path:
        return run.path / self._name


class RunFolder:
    """Paths and documents of one run."""

    record = _Inside("run.json")
    journal = _Inside("steps.jsonl")
    decision = _Inside("decision.json")
    progress = _Inside("progress.json")
    answer = _Inside("answer.json")
    history = _Inside("history")
    submission = _Inside("submission.csv")
    """Graded submission, if it is a table."""
    files = _Inside("submission")
    """Graded submission, if it is a folder of files."""
    curve = _Inside("curve.json")
    scratch = _Inside(".scratch.csv")
    logs = _Inside("logs")
    lock = _Inside(".lock")
    output = _Inside("worker.log")

    def __init__(self, path: Path, *, durable: bool = True) -> None:
        """
        Args:
            durable: whether writes are synced to disk, so that a power cut loses no step.
        """
        self.path, self._durable = path, durable

    @property
    def experiment(self) -> Path:
        """Return the folder of the experiment; links are not followed below it."""
        return self.path.parent.parent

    def check(self) -> None:
        """Check that the folder contains only regular files and folders: no links, no pipes.

        Raises:
            RecordError: there is anything else.
        """
        for folder in (self.path.parent, self.path):
            if os.path.lexists(folder) and not is_folder(folder):
                raise RecordError(
                    f"{folder} must be a folder inside the experiment, not a link or another kind of file."
                )
        pending = [self.path] if is_folder(self.path) else []
        while pending:
            with os.scandir(pending.pop()) as listing:
                for entry in listing:
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(Path(entry.path))
                    elif not entry.is_file(follow_symlinks=False):
                        kind = "a link" if entry.is_symlink() else "neither a file nor a folder"
                        raise RecordError(f"{entry.path} is {kind}; Podium never creates these in run folders.")

    def make(self) -> None:
        """Create the folder unless it exists.

        Raises:
            RecordError: the path exists and is not a folder.
        """
        self.check()
        _make_folder(self.path, self.experiment)

    @property
    def workspace(self) -> Path:
        """Return the folder that is mounted as /home in the sandbox."""
        return self._part("workspace")

    @property
    def given(self) -> Path:
        """Return the folder of Podium's files that are mounted read-only for the agent."""
        return self._part("given")

    @property
    def held_out(self) -> Path:
        """Return the folder with held-out training rows and the public folder shown to the agent instead."""
        return self._part("held-out")

    def _part(self, name: str) -> Path:
        """Return a folder below the run's neutrally named mount root.

        Programs can read mount sources in /proc. They must not learn the experiment's name, and the id of a forged
        task with a public seed would be enough to regenerate its answers.
        """
        top = workspaces_of(self.experiment)
        part = (self._known_place(top) or self._new_place(top)) / name
        _make_folder(part, top.parent)
        return part.resolve()

    def _known_place(self, top: Path) -> Path | None:
        """Return the run's existing mount root; a copied run folder still names that of the original."""
        file = self.path / _PLACE_FILE
        if not os.path.lexists(file):
            return None
        name = _read(file, 64, self.experiment).decode("ascii", "replace").strip()
        if not _PLACE.fullmatch(name):
            raise RecordError(f"{file} does not contain a workspace name.")
        return top / name if belongs_to(top / name, self.path) else None

    def _new_place(self, top: Path) -> Path:
        _make_folder(top, top.parent)
        place = make_neutral(top, self.path)
        write_atomically(self.path / _PLACE_FILE, place.name, top=self.experiment)
        return place

    def read_history(self) -> History:
        """Open the snapshots read-only; the workspace itself may be gone."""
        return History(self.history, self.path / "nowhere", top=self.experiment)

    def open_history(self, always: Collection[str] = ()) -> History:
        """Open the snapshots of the current workspace for writing.

        Args:
            always: files whose content is stored regardless of size.
        """
        return History(self.history, self.workspace, always=always, top=self.experiment)

    def read_journal(self) -> JournalReader:
        """Read the journal and check its hash chain; see `journal.read_journal`."""
        return read_journal(self.journal, top=self.experiment)

    def open_journal(self) -> Journal:
        """Open the journal for writing; see `Journal.open`."""
        return Journal.open(self.journal, top=self.experiment, durable=self._durable)

    def read(self, path: Path, kind: type[Document], *, max_bytes: int = MAX_DOCUMENT_BYTES) -> Document | None:
        """Read a document; None if the file does not exist.

        Raises:
            RecordError: the file cannot be read or does not match the model.
        """
        return read_document(path, kind, top=self.experiment, max_bytes=max_bytes)

    def write(self, path: Path, document: BaseModel, *, durable: bool = True) -> None:
        """Write a document atomically."""
        write_document(path, document, durable=durable and self._durable, top=self.experiment)

    def read_record(self) -> RunRecord | None:
        return self.read(self.record, RunRecord)

    def write_record(self, record: RunRecord) -> None:
        self.write(self.record, record)

    def read_curve(self) -> tuple[CurvePoint, ...] | None:
        """Return the graded submissions over time, if they were graded (`--curve`)."""
        if not os.path.lexists(self.curve):
            return None
        with _damage_explained(self.curve):
            return _CURVE.validate_json(_refuse_ambiguous(_read(self.curve, MAX_CURVE_BYTES, self.experiment)))

    def write_curve(self, points: tuple[CurvePoint, ...]) -> None:
        text = json.dumps(_CURVE.dump_python(points, mode="json"), indent=1, allow_nan=False)
        write_atomically(self.curve, text + "\n", top=self.experiment)


def workspaces_of(experiment: Path) -> Path:
    """Return the folder of an experiment's workspaces: beside it, or inside if others could tamper with the parent."""
    beside = experiment.absolute().parent / WORKSPACES
    try:
        beside.mkdir(exist_ok=True)
        found = beside.lstat()
        ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
        same_disk = found.st_dev == experiment.stat().st_dev
    except OSError:  # the parent folder is not writable
        return experiment / WORKSPACES
    return beside if ours and same_disk else experiment / WORKSPACES


def read_document(
    path: Path, kind: type[Document], *, top: Path | None = None, max_bytes: int = MAX_DOCUMENT_BYTES
) -> Document | None:
    """Read a document and validate it against its model; None if the file does not exist.

    Args:
        top: folder below which links are not followed; by default the file's own.

    Raises:
        RecordError: the file is not a regular file, is too large, or does not match the model.
    """
    if not os.path.lexists(path):
        return None
    with _damage_explained(path):
        return kind.model_validate_json(_refuse_ambiguous(_read(path, max_bytes, top)))


def write_document(path: Path, document: BaseModel, *, durable: bool = True, top: Path | None = None) -> None:
    """Write a document atomically."""
    text = json.dumps(document.model_dump(mode="json"), indent=1, allow_nan=False)
    write_atomically(path, text + "\n", durable=durable, top=top)


def _read(path: Path, max_bytes: int, top: Path | None) -> bytes:
    try:
        return read_regular(path, max_bytes, top=top)
    except OSError as error:
        raise RecordError(f"{path} cannot be read: {error.strerror}.") from error


def _refuse_ambiguous(data: bytes) -> bytes:
    """Refuse JSON with repeated keys, which parsers read differently."""
    json.loads(data, object_pairs_hook=_without_repeats)
    return data


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key '{repeated:.40}' appears twice")
    return found


def _make_folder(path: Path, top: Path) -> None:
    try:
        os.close(open_folder(path, top=top, make=True))
    except OSError as error:
        raise RecordError(f"{path} cannot be opened as a folder of its experiment: {error.strerror}.") from error


def check_numbers(found: Mapping[str, Any], file: Path) -> None:
    """Refuse numbers that no run can produce, so that they are never displayed or stored.

    Raises:
        RecordError: a number is not finite or too large.
    """
    for name, value in found.items():
        if isinstance(value, int | float) and not abs(value) < _MAX_NUMBER:
            raise RecordError(f"{file} is damaged: {name} is {value!r:.40}.")


@contextmanager
def _damage_explained(path: Path) -> Iterator[None]:
    try:
        yield
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = "".join(f"{part}: " for part in (".".join(map(str, first["loc"])),) if part)
        raise RecordError(f"{path} is damaged: {place}{first['msg'].removeprefix('Value error, ')}") from error
    except RecursionError as error:
        raise RecordError(f"{path} is damaged: it is nested too deeply.") from error
    except ValueError as error:
        raise RecordError(f"{path} is damaged: {error}.") from error
