"""Test rows that are also in the training data, byte for byte or nearly."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pandas as pd

from podium.data.columns import count_possible_rows
from podium.integrity.audit.audited_task import AuditedTask, DataFile, TaskFinding
from podium.integrity.audit.label_leaks import files_of_rows

MIN_TWINS, MIN_TWIN_SHARE = 3, 0.02
"""Smallest number and share of test rows with a duplicate in the training data."""
_HEAD_BYTES = 1 << 16
_THUMBNAIL = (12, 12)
_LEVELS = 16
_PICTURES = (".jpg", ".jpeg", ".png", ".tif", ".tiff", ".bmp")


def duplicated_files(task: AuditedTask) -> Iterator[TaskFinding]:
    """Find test files with the content of a training file; pictures also after resizing or conversion."""
    ours = files_of_rows(task)
    train = [file for file in task.public_files if file.is_train]
    for name, key in (("the same content", digest), ("nearly the same picture", thumbnail)):
        known = Counter(found for file in train if (found := key(file)) is not None)
        rows = {row: file for row, file in ours if (found := key(file)) is not None and known[found]}
        # Content that hundreds of files share is a blank picture or a form, not a duplicate.
        rows = {row: file for row, file in rows.items() if known[key(file) or b""] <= max(2, len(train) / 50)}
        if len(rows) >= max(MIN_TWINS, MIN_TWIN_SHARE * len(task.ids)):
            example = next(iter(rows.values())).name
            reason = f"{len(rows)} of {len(task.ids)} test rows have {name} as a training file."
            yield task.finding("duplicates in train and test", reason, 0.9, file=example)
            return


def duplicated_rows(task: AuditedTask) -> Iterator[TaskFinding]:
    """Find rows of test tables that equal a row of the training table in all columns but the id."""
    for table, other in task.table_pairs:
        columns = [name for name in table.cells if name in other.cells and name not in task.form.ids]
        if not columns or not set(task.form.ids) <= set(table.cells.columns):
            continue
        rows, known = table.cells[columns], other.cells[columns].drop_duplicates()
        telling = rows[rows.nunique(axis=1) > 1 if columns[1:] else rows[columns[0]] != ""].drop_duplicates()
        twins = len(telling.merge(known, on=columns))
        if twins >= max(MIN_TWINS, MIN_TWIN_SHARE * len(rows)) and _is_rare(known):
            where = f"all {len(columns)} columns" if columns[1:] else f"their only column, {columns[0]}"
            reason = f"{twins} of {len(rows)} test rows agree with a training row in {where}."
            yield task.finding("duplicates in train and test", reason, 0.8, file=table.name)


def _is_rare(known: pd.DataFrame) -> bool:
    """Return whether chance duplicates are rare: with few possible rows, equal rows prove nothing."""
    return count_possible_rows(known) > 1e4 * len(known)


def digest(file: DataFile) -> bytes | None:
    """Return a digest of a file's size and beginning, or None for a very small file."""
    size = file.path.stat().st_size
    if size < 32:
        return None
    with file.path.open("rb") as opened:
        return hashlib.sha256(size.to_bytes(8, "little") + opened.read(_HEAD_BYTES)).digest()


def thumbnail(file: DataFile) -> bytes | None:
    """Return a thumbnail that survives resizing and compression, or None for pictures without detail."""
    from PIL import Image

    if file.path.suffix.lower() not in _PICTURES:
        return None
    try:
        with Image.open(file.path) as image:
            small = np.asarray(image.convert("L").resize(_THUMBNAIL), dtype=np.int64)
    except (OSError, ValueError, Image.DecompressionBombError):
        return None
    coarse = small * _LEVELS // 256
    return coarse.astype(np.uint8).tobytes() if len(np.unique(coarse)) > 3 else None
