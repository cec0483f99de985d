"""Consistency of a task's parts: sample and answers, brief and files, metadata and answers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from podium.integrity.audit.audited_task import AuditedTask, TaskFinding
from podium.integrity.audit.file_metadata import observe
from podium.integrity.audit.metadata_leaks import predict

_FILE = re.compile(r"`([\w./-]+\.(?:csv|tsv|json|jsonl|zip|7z|txt|npy|npz|parquet|tfrec|pkl))`")
MAX_P = 0.0002
"""Largest share of shuffled answers that metadata may predict as well for its relation to be no chance."""
SHUFFLES = 10_000
MIN_ROWS = 20
MAX_ROWS = 3_000


def sample_and_answers(task: AuditedTask) -> Iterator[TaskFinding]:
    """Check that the sample submission has exactly the rows that are graded."""
    ids = list(task.form.ids)
    if not ids or task.form.extra_rows:
        return
    asked = set(task.sample[ids].astype(str).agg("\0".join, axis=1))
    graded = set(task.answers[ids].astype(str).agg("\0".join, axis=1))
    if asked != graded:
        reason = (
            f"{len(graded - asked)} graded rows are missing from the sample, and {len(asked - graded)} of its rows are "
            "not graded."
        )
        yield task.finding("sample and answers differ", reason, 0.95, file=task.form.sample)


def files_of_the_brief(task: AuditedTask) -> Iterator[TaskFinding]:
    """Check that the data files named in the brief exist."""
    there = {part for file in task.public_files for part in PurePosixPath(file.name).parts}
    there |= {name for path in task.public.rglob("*") for name in (path.name, path.stem)} | {"submission.csv"}
    named = {PurePosixPath(name).name for name in _FILE.findall(task.prepared.task.brief)}
    missing = sorted(name for name in named - there if not re.search(r"[A-Z]{2}|NN", name))  # `ID.json` is a pattern
    if missing:
        reason = f"These files do not exist: {', '.join(missing[:5])}."
        yield task.finding("the brief names files that are missing", reason, 0.6, severity="remark")


def metadata_predicts(task: AuditedTask) -> Iterator[TaskFinding]:
    """Check that neither the order of rows and ids nor file metadata predicts the answers."""
    if not MIN_ROWS <= len(task.ids) <= MAX_ROWS:
        return
    rows = observe(task.public, task.ids, task.answers[task.targets])
    for files, what in ((False, "The order and ids of the rows predict"), (True, "The metadata of the files predicts")):
        if not files and _rows_belong_together(task):
            continue
        found = predict([rows], files=files, shuffles=SHUFFLES)
        if found.p < MAX_P:
            reason = f"{what} the answers, best by '{found.best}' with strength {found.strength} (p = {found.p:.2g})."
            yield task.finding("metadata tells the answers", reason, 0.9)


def _rows_belong_together(task: AuditedTask) -> bool:
    """Return whether rows form series, such as the frames of a recording, whose neighbours are similar by nature."""
    starts = {re.split(r"[_-](?=[^_-]*$)", row)[0] for row in task.ids}
    if len(starts) <= len(task.ids) / 2:
        return True
    for table in task.tables:
        for column in table.cells if set(task.form.ids) <= set(table.cells.columns) else ():
            cells = table.cells[column]
            runs = int((cells != cells.shift()).sum())
            if 1 < runs == cells.nunique() <= len(cells) / 1.5:
                return True
    return False
