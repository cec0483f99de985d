"""Whether a task's parts agree: sample and answers, the brief and the files that are there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from podium.integrity.audit.audited_task import AuditedTask, TaskFinding
from podium.integrity.audit.file_metadata import observe
from podium.integrity.audit.metadata_leaks import predict

_FILE = re.compile(r"`([\w./-]+\.(?:csv|tsv|json|jsonl|zip|7z|txt|npy|npz|parquet|tfrec|pkl))`")
CERTAIN = 0.0002
"""Share of shuffled answers that metadata predicts as well, below which it is not chance."""
SHUFFLES = 10_000
FEWEST_ROWS = 20
MOST_ROWS = 3_000


def sample_and_answers(task: AuditedTask) -> Iterator[TaskFinding]:
    """The sample submission must ask for the rows that are graded, once each."""
    ids = list(task.form.ids)
    if not ids or task.form.extra_rows:
        return
    asked = set(task.sample[ids].astype(str).agg("\0".join, axis=1))
    graded = set(task.answers[ids].astype(str).agg("\0".join, axis=1))
    if asked != graded:
        reason = (
            f"{len(graded - asked)} graded rows are not in the sample, {len(asked - graded)} of its rows are not graded"
        )
        yield task.finding("sample and answers differ", reason, 0.95, file=task.form.sample)


def files_of_the_brief(task: AuditedTask) -> Iterator[TaskFinding]:
    """Data files that the brief names must be there."""
    there = {part for file in task.public_files for part in PurePosixPath(file.name).parts}
    there |= {name for path in task.public.rglob("*") for name in (path.name, path.stem)} | {"submission.csv"}
    named = {PurePosixPath(name).name for name in _FILE.findall(task.prepared.task.brief)}
    missing = sorted(name for name in named - there if not re.search(r"[A-Z]{2}|NN", name))  # `ID.json` stands for many
    if missing:
        yield task.finding("the brief names files that are missing", ", ".join(missing[:5]), 0.6, severity="remark")


def metadata_predicts(task: AuditedTask) -> Iterator[TaskFinding]:
    """Neither the order of rows and ids nor times, numbers and places of files may predict the answers."""
    if not FEWEST_ROWS <= len(task.ids) <= MOST_ROWS:
        return
    rows = observe(task.public, task.ids, task.answers[task.targets])
    for files, what in ((False, "order and ids of rows"), (True, "metadata of files")):
        if not files and _rows_belong_together(task):
            continue
        found = predict([rows], files=files, shuffles=SHUFFLES)
        if found.p < CERTAIN:
            reason = f"{what} predict the answers: {found.best}, strength {found.strength} (p = {found.p:.2g})"
            yield task.finding("metadata tells the answers", reason, 0.9)


def _rows_belong_together(task: AuditedTask) -> bool:
    """Whether rows come in series, such as the moments of a recording: neighbours are then alike by nature."""
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
