"""The folder of a run: which file is what, read as if a stranger had made them."""

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
"""Beside an experiment's folder: what its sandboxes see, under names that say nothing."""
DOCUMENT_BYTES, CURVE_BYTES = 8 << 20, 64 << 20
DECISION_BYTES = 256 << 20
"""Of a decision: models write long programs, and several at a time."""
_LARGEST = 1 << 53
"""No number of a document is larger."""
_PLACE_FILE = ".place"
_PLACE = re.compile(r"[0-9a-f]{16}")
Document = TypeVar("Document", bound=BaseModel)
_CURVE = TypeAdapter(tuple[CurvePoint, ...])


class _Inside:
    """A path in a run's folder; made when it is asked for, as lists of thousands of runs ask for few."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, run: RunFolder, owner: type) -> Path:
        return run.path / self._name


class RunFolder:
    """The files of one run."""

    record = _Inside("run.json")
    journal = _Inside("steps.jsonl")
    decision = _Inside("decision.json")
    progress = _Inside("progress.json")
    answer = _Inside("answer.json")
    history = _Inside("workspace.git")
    submission = _Inside("submission.csv")
    """The graded one, where it is a table."""
    files = _Inside("submission")
    """The graded ones, where they are files."""
    curve = _Inside("curve.json")
    scratch = _Inside(".scratch.csv")
    logs = _Inside("logs")
    lock = _Inside(".lock")
    output = _Inside("worker.log")

    def __init__(self, path: Path, *, durable: bool = True) -> None:
        """
        Args:
            durable: whether what is written waits for the disk, so that a power cut loses no step.
        """
        self.path, self._durable = path, durable

    @property
    def experiment(self) -> Path:
        """The folder of the experiment it belongs to: from there on no link is followed."""
        return self.path.parent.parent

    def check(self) -> None:
        """Makes sure that all there is in it are files and folders: no links, no pipes.

        Raises:
            RecordError: there is something else.
        """
        for folder in (self.path.parent, self.path):
            if os.path.lexists(folder) and not is_folder(folder):
                raise RecordError(f"{folder} is not a folder of its own experiment.")
        pending = [self.path] if is_folder(self.path) else []
        while pending:
            with os.scandir(pending.pop()) as listing:
                for entry in listing:
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(Path(entry.path))
                    elif not entry.is_file(follow_symlinks=False):
                        what = "a link" if entry.is_symlink() else "neither a file nor a folder"
                        raise RecordError(f"{entry.path} is {what}; Podium puts none into a run's folder.")

    def make(self) -> None:
        """Makes the folder, if it is not there.

        Raises:
            RecordError: something else stands in its place.
        """
        self.check()
        _make_folder(self.path, self.experiment)

    @property
    def workspace(self) -> Path:
        """The folder that is /home inside the sandbox."""
        return self._part("workspace")

    @property
    def given(self) -> Path:
        """Files of ours that the agent sees read-only."""
        return self._part("given")

    @property
    def held_out(self) -> Path:
        """Training rows that were set aside, and what the agent sees in place of the task's public folder."""
        return self._part("held-out")

    def _part(self, name: str) -> Path:
        """A folder of the place where everything that is mounted lies: programs can read in /proc what their mounts
        are called on the host. The name of an experiment is not for them, and that of a forged task with a public
        seed is all that is needed to make its answers again.
        """
        top = workspaces_of(self.experiment)
        part = (self._known_place(top) or self._new_place(top)) / name
        _make_folder(part, top.parent)
        return part.resolve()

    def _known_place(self, top: Path) -> Path | None:
        """The place that was made for this run; a copied folder still names that of the one it was copied from."""
        file = self.path / _PLACE_FILE
        if not os.path.lexists(file):
            return None
        name = _read(file, 64, self.experiment).decode("ascii", "replace").strip()
        if not _PLACE.fullmatch(name):
            raise RecordError(f"{file} does not hold the name of a workspace.")
        return top / name if belongs_to(top / name, self.path) else None

    def _new_place(self, top: Path) -> Path:
        _make_folder(top, top.parent)
        place = make_neutral(top, self.path)
        write_atomically(self.path / _PLACE_FILE, place.name, top=self.experiment)
        return place

    def read_history(self) -> History:
        """The snapshots, only to be read: the workspace itself may be gone."""
        return History(self.history, self.path / "nowhere", top=self.experiment)

    def open_history(self, always: Collection[str] = ()) -> History:
        """The snapshots, of the workspace as it is now.

        Args:
            always: files whose content is stored though it be large.
        """
        return History(self.history, self.workspace, always=always, top=self.experiment)

    def read_journal(self) -> JournalReader:
        """The journal after a check of its chain; see `journal.read_journal`."""
        return read_journal(self.journal, top=self.experiment)

    def open_journal(self) -> Journal:
        """The journal, to be written; see `Journal.open`."""
        return Journal.open(self.journal, top=self.experiment, durable=self._durable)

    def read(self, path: Path, kind: type[Document], *, max_bytes: int = DOCUMENT_BYTES) -> Document | None:
        """One of the documents; None when it is not there.

        Raises:
            RecordError: it cannot be read, or is not such a document.
        """
        return read_document(path, kind, top=self.experiment, max_bytes=max_bytes)

    def write(self, path: Path, document: BaseModel, *, durable: bool = True) -> None:
        """Writes one of the documents, all of it or nothing."""
        write_document(path, document, durable=durable and self._durable, top=self.experiment)

    def read_record(self) -> RunRecord | None:
        return self.read(self.record, RunRecord)

    def write_record(self, record: RunRecord) -> None:
        self.write(self.record, record)

    def read_curve(self) -> tuple[CurvePoint, ...] | None:
        """When the run had which submission, if that was graded (`--curve`)."""
        if not os.path.lexists(self.curve):
            return None
        with _damage_explained(self.curve):
            return _CURVE.validate_json(_refuse_ambiguous(_read(self.curve, CURVE_BYTES, self.experiment)))

    def write_curve(self, points: tuple[CurvePoint, ...]) -> None:
        text = json.dumps(_CURVE.dump_python(points, mode="json"), indent=1, allow_nan=False)
        write_atomically(self.curve, text + "\n", top=self.experiment)


def workspaces_of(experiment: Path) -> Path:
    """The folder with the workspaces of an experiment: beside it, or in it where others could tamper with that."""
    beside = experiment.absolute().parent / WORKSPACES
    try:
        beside.mkdir(exist_ok=True)
        found = beside.lstat()
        ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
        same_disk = found.st_dev == experiment.stat().st_dev
    except OSError:  # the folder above cannot be written
        return experiment / WORKSPACES
    return beside if ours and same_disk else experiment / WORKSPACES


def read_document(
    path: Path, kind: type[Document], *, top: Path | None = None, max_bytes: int = DOCUMENT_BYTES
) -> Document | None:
    """A document of that kind, or None when the file is not there.

    Args:
        top: from there on no link is followed; by default from the folder it lies in.

    Raises:
        RecordError: it is not a regular file, too large, or not such a document.
    """
    if not os.path.lexists(path):
        return None
    with _damage_explained(path):
        return kind.model_validate_json(_refuse_ambiguous(_read(path, max_bytes, top)))


def write_document(path: Path, document: BaseModel, *, durable: bool = True, top: Path | None = None) -> None:
    """Writes a document, all of it or nothing."""
    text = json.dumps(document.model_dump(mode="json"), indent=1, allow_nan=False)
    write_atomically(path, text + "\n", durable=durable, top=top)


def _read(path: Path, max_bytes: int, top: Path | None) -> bytes:
    try:
        return read_regular(path, max_bytes, top=top)
    except OSError as error:
        raise RecordError(f"{path} cannot be read: {error.strerror}.") from error


def _refuse_ambiguous(data: bytes) -> bytes:
    """The same JSON, if every program reads it alike: a key that is there twice means what its reader likes."""
    json.loads(data, object_pairs_hook=_without_repeats)
    return data


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key '{repeated:.40}' is there twice")
    return found


def _make_folder(path: Path, top: Path) -> None:
    try:
        os.close(open_folder(path, top=top, make=True))
    except OSError as error:
        raise RecordError(f"{path} is not a folder of its own experiment: {error.strerror}.") from error


def check_numbers(found: Mapping[str, Any], file: Path) -> None:
    """Refuses numbers that no run can have, so that they are never shown or stored.

    Raises:
        RecordError: one is not finite, or too large.
    """
    for name, value in found.items():
        if isinstance(value, int | float) and not abs(value) < _LARGEST:
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
