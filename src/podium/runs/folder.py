"""The folder of a run: which file is what, read as if a stranger had made them."""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from podium.data.files import write_atomically
from podium.data.inside import read_regular
from podium.errors import RecordError
from podium.runs.models import CurvePoint, RunRecord

PLACES = ".places"
"""The folder of an experiment with what its sandboxes see, under names that say nothing."""
DOCUMENT_BYTES = 64 << 20
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

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def experiment(self) -> Path:
        """The folder of the experiment it belongs to."""
        return self.path.parent.parent

    @property
    def workspace(self) -> Path:
        """The folder that is /home inside the sandbox."""
        return self._place() / "workspace"

    @property
    def given(self) -> Path:
        """Files of ours that the agent sees read-only."""
        return self._place() / "given"

    def _place(self) -> Path:
        """Where everything that is mounted lies: programs can read in /proc what their mounts are called on the host,
        and the name of a forged task is all that is needed to make its answers again.
        """
        file = self.path / ".place"
        if not os.path.lexists(file):
            self.path.mkdir(parents=True, exist_ok=True)
            write_atomically(file, secrets.token_hex(8))
        name = _read(file, 64).decode("ascii", "replace").strip()
        if not _PLACE.fullmatch(name):
            raise RecordError(f"{file} does not hold the name of a workspace.")
        place = self.experiment / PLACES / name
        for folder in (place.parent, place):
            if folder.is_symlink():
                raise RecordError(f"{folder} is a link; a workspace is a folder of its own experiment.")
        place.mkdir(parents=True, exist_ok=True)
        return place.resolve()

    def read_record(self) -> RunRecord | None:
        return read_document(self.record, RunRecord)

    def write_record(self, record: RunRecord) -> None:
        write_document(self.record, record)

    def read_curve(self) -> tuple[CurvePoint, ...] | None:
        """When the run had which submission, if that was graded (`--curve`)."""
        if not self.curve.exists():
            return None
        with _damage_explained(self.curve):
            return _CURVE.validate_json(_read(self.curve, DOCUMENT_BYTES))

    def write_curve(self, points: tuple[CurvePoint, ...]) -> None:
        text = json.dumps(_CURVE.dump_python(points, mode="json"), indent=1, allow_nan=False)
        write_atomically(self.curve, text + "\n")


def read_document(path: Path, kind: type[Document]) -> Document | None:
    """A document of that kind, or None when the file is not there.

    Raises:
        RecordError: it is not a regular file, too large, or not such a document.
    """
    if not os.path.lexists(path):
        return None
    with _damage_explained(path):
        return kind.model_validate_json(_read(path, DOCUMENT_BYTES))


def write_document(path: Path, document: BaseModel, *, durable: bool = True) -> None:
    """Writes a document, all of it or nothing."""
    text = json.dumps(document.model_dump(mode="json"), indent=1, allow_nan=False)
    write_atomically(path, text + "\n", durable=durable)


def _read(path: Path, max_bytes: int) -> bytes:
    try:
        return read_regular(path, max_bytes)
    except OSError as error:
        raise RecordError(f"{path} cannot be read: {error.strerror}.") from error


@contextmanager
def _damage_explained(path: Path) -> Iterator[None]:
    try:
        yield
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise RecordError(f"{path} is damaged: {place}: {first['msg']}") from error
