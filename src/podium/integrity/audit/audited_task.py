"""Task under audit: its files with the contents of archives, its tables, its test rows and their answers.

The known faults that a task file declares are not read.
"""

from __future__ import annotations

import itertools
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Literal

import numpy as np
import pandas as pd

from podium.data.formats.archives import extract, opened_member
from podium.data.prepare import MINIATURE_SEED
from podium.errors import PodiumError
from podium.grading.prepared_task import PreparedTask
from podium.grading.table_submission import read_answers
from podium.integrity.audit.public_tables import PublicTable, plain, read_tables
from podium.task import Columns

ARCHIVES = (".zip", ".7z", ".tar", ".tar.gz", ".tgz")
MAX_ARCHIVE_BYTES = 1 << 30
"""Largest size of an archive that is unpacked; larger ones are only listed by name."""
MAX_FILES = 200_000
MAX_TARGETS = 12
_MAX_DEPTH = 2
"""Largest depth of archives within archives that are unpacked."""
_SAMPLE = re.compile(r"sample[_ ]?submission", re.IGNORECASE)
_TRAIN = re.compile(r"(^|[^a-z])train(ing)?([^a-z]|$)", re.IGNORECASE)


@dataclass(frozen=True)
class TaskFinding:
    """Evidence of a fault in a task."""

    kind: str
    """Kind of fault, in a word or two."""
    task: str
    reason: str
    """Observation, with figures, as a sentence."""
    confidence: float
    severity: Literal["fault", "remark"] = "fault"
    """Severity; a remark is worth knowing and may be intended."""
    file: str | None = None
    """File that shows it, relative to the public folder."""


@dataclass(frozen=True)
class DataFile:
    """File of a task's data, or a member of one of its archives."""

    name: str
    """Path relative to the public or raw folder; an archive counts as a folder."""
    path: Path
    """Path to read it from."""

    @property
    def is_train(self) -> bool:
        """True if the name indicates training data."""
        return _TRAIN.search(self.name) is not None


class AuditedTask:
    """Inputs of the checks, each read on first use."""

    def __init__(self, prepared: PreparedTask, folder: Path) -> None:
        self.prepared = prepared
        self.folder = folder
        """Folder for files that checks unpack or make."""

    @property
    def id(self) -> str:
        return self.prepared.task.id

    @property
    def form(self) -> Columns:
        """Form of the submitted table; for other kinds of submission only the reference is checked."""
        return self.prepared.task.form

    @property
    def public(self) -> Path:
        return self.prepared.place.public

    @cached_property
    def public_files(self) -> list[DataFile]:
        """All public files and members of archives, without sample submissions."""
        own = Path(self.form.sample).name
        files = self._files(self.public, "public")
        return [file for file in files if file.path.name != own and not _SAMPLE.search(file.name)]

    @cached_property
    def raw_files(self) -> list[DataFile]:
        """All raw files and members of archives; empty if the data came from a seed or the raw files are gone."""
        return self._files(self._raw, "raw")

    @property
    def _raw(self) -> Path:
        """Folder of the raw data; that of a miniature is fabricated again, as it was not kept."""
        task, source = self.prepared.task, Path(self.prepared.manifest.source)
        if self.prepared.miniature and task.fabricator:
            made = self.folder / "fabricated"
            made.mkdir()
            task.fabricator(made, np.random.default_rng(MINIATURE_SEED))
            return made
        return source if source.is_dir() else self.prepared.place.raw

    @cached_property
    def tables(self) -> list[PublicTable]:
        """Tables among the public files; parts of one table in the same folder are concatenated."""
        alike: dict[tuple[object, ...], list[PublicTable]] = {}
        for table in (table for file in self.public_files for table in read_tables(file.name, file.path)):
            name = PurePosixPath(table.name)
            alike.setdefault((name.parent, name.suffix, *table.cells.columns), []).append(table)
        return [PublicTable(parts[0].name, pd.concat([part.cells for part in parts])) for parts in alike.values()]

    @cached_property
    def train_tables(self) -> list[PublicTable]:
        """Tables with the answers of training rows."""
        return [table for table in self.tables if set(self.form.targets) <= set(table.cells.columns)]

    @property
    def table_pairs(self) -> Iterator[tuple[PublicTable, PublicTable]]:
        """Pairs of a public table without answers and one with answers."""
        train = self.train_tables
        test = [table for table in self.tables if table not in train and table.name != self.form.sample]
        return itertools.product(test, train)

    @cached_property
    def sample(self) -> pd.DataFrame:
        """Sample submission, as text."""
        with opened_member(self.public / self.form.sample) as file:
            return pd.read_csv(file, dtype=str, keep_default_na=False)

    @cached_property
    def answers(self) -> pd.DataFrame:
        """Answers as the grader reads them, rows numbered from 0."""
        read, private = self.prepared.task.parts.answers, self.prepared.place.private
        found = read(private) if read else read_answers(private / self.form.answers, self.form)
        return found.reset_index(drop=True)

    @cached_property
    def targets(self) -> list[str]:
        """Target columns of the answers."""
        names = self.form.answers_target or self.form.target
        wanted = [names] if isinstance(names, str) else list(names)
        known = [name for name in wanted if name in self.answers and name not in self.form.ids]
        return known or [str(name) for name in self.answers if name not in self.form.ids]

    @cached_property
    def labels(self) -> dict[str, pd.Series[str]]:
        """Labels that columns are compared with: each target as text or, if there are many, the name of the largest."""
        answers = self.answers[self.targets]
        if len(self.targets) > MAX_TARGETS and all(pd.api.types.is_numeric_dtype(answers[name]) for name in answers):
            return {"the largest target": answers.idxmax(axis=1).map(str)}
        return {name: answers[name].map(plain) for name in self.targets[:MAX_TARGETS]}

    @cached_property
    def ids(self) -> list[str]:
        """First id of every test row, or its number if rows have no ids."""
        if not self.form.ids:
            return [str(number) for number in range(len(self.answers))]
        return self.answers[self.form.ids[0]].astype(str).tolist()

    @cached_property
    def perfect(self) -> pd.DataFrame | None:
        """Answers in the form of a submission; None if they have another form."""
        return submission_of_answers(self.form, self.prepared.place.private)

    def finding(self, kind: str, reason: str, confidence: float, **others: str) -> TaskFinding:
        """Return a finding about this task."""
        return TaskFinding(kind, self.id, reason, confidence, **others)  # type: ignore[arg-type]

    def _files(self, folder: Path, part: str) -> list[DataFile]:
        found = [DataFile(path.relative_to(folder).as_posix(), path) for path in _below(folder)]
        pending = found
        for depth in range(_MAX_DEPTH):
            inside = []
            for number, archive in enumerate(file for file in pending if _is_archive(file.path)):
                inside += list(_members(archive, self.folder / part / f"{depth}-{number}"))
            found, pending = [*found, *inside], inside
        return found


def _members(archive: DataFile, place: Path) -> Iterator[DataFile]:
    place.mkdir(parents=True)
    try:
        extract(archive.path, place)
    except (PodiumError, OSError):  # damaged, or an unsupported format
        return
    for path in _below(place):
        yield DataFile(f"{archive.name}/{path.relative_to(place).as_posix()}", path)


def submission_of_answers(form: Columns, private: Path) -> pd.DataFrame | None:
    """Return the answers in the form of a submission, or None if they have another form."""
    gold = private / "gold_submission.csv"
    if gold.exists():
        return pd.read_csv(gold, dtype=str, keep_default_na=False)
    if not (private / form.answers).is_file():
        return None
    answers = read_answers(private / form.answers, form)
    names = form.answers_target or form.target
    wanted = [*form.ids, *([names] if isinstance(names, str) else names)]
    if not set(wanted) <= set(answers.columns):
        return None
    return answers[wanted].set_axis([*form.ids, *form.targets], axis=1)


@contextmanager
def open_task(prepared: PreparedTask) -> Iterator[AuditedTask]:
    """Open a task for auditing, with a temporary folder for the contents of its archives."""
    with tempfile.TemporaryDirectory(prefix="podium-audit-") as folder:
        yield AuditedTask(prepared, Path(folder))


def _below(folder: Path) -> list[Path]:
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return sorted(itertools.islice(files, MAX_FILES))


def _is_archive(path: Path) -> bool:
    return path.name.endswith(ARCHIVES) and path.stat().st_size <= MAX_ARCHIVE_BYTES
