"""Test rows that are also in the training data, byte for byte or nearly."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pandas as pd

from podium.data.columns import possible_rows
from podium.integrity.audit.audited_task import AuditedTask, DataFile, TaskFinding
from podium.integrity.audit.label_leaks import files_of_rows

FEWEST, SHARE = 3, 0.02
"""So many test rows, and so large a share of them, must have a twin."""
_HEAD_BYTES = 1 << 16
_THUMBNAIL = (12, 12)
_LEVELS = 16
_PICTURES = (".jpg", ".jpeg", ".png", ".tif", ".tiff", ".bmp")


def duplicated_files(task: AuditedTask) -> Iterator[TaskFinding]:
    """Test files with the content of a training file; pictures also where only size or format differ."""
    ours = files_of_rows(task)
    train = [file for file in task.public_files if file.is_train]
    for name, key in (("the same content as", digest), ("nearly the picture of", thumbnail)):
        known = Counter(found for file in train if (found := key(file)) is not None)
        rows = {row: file for row, file in ours if (found := key(file)) is not None and known[found]}
        # What hundreds share is a blank picture or a form, not a row.
        rows = {row: file for row, file in rows.items() if known[key(file) or b""] <= max(2, len(train) / 50)}
        if len(rows) >= max(FEWEST, SHARE * len(task.ids)):
            example = next(iter(rows.values())).name
            reason = f"{len(rows)} of {len(task.ids)} test rows have {name} a training file"
            yield task.finding("duplicates in train and test", reason, 0.9, file=example)
            return


def duplicated_rows(task: AuditedTask) -> Iterator[TaskFinding]:
    """Rows of test tables that are in the training table too, all columns alike but the id."""
    for table, other in task.table_pairs:
        columns = [name for name in table.cells if name in other.cells and name not in task.form.ids]
        if not columns or not set(task.form.ids) <= set(table.cells.columns):
            continue
        rows, known = table.cells[columns], other.cells[columns].drop_duplicates()
        telling = rows[rows.nunique(axis=1) > 1 if columns[1:] else rows[columns[0]] != ""].drop_duplicates()
        twins = len(telling.merge(known, on=columns))
        if twins >= max(FEWEST, SHARE * len(rows)) and _is_rare(known):
            where = f"all {len(columns)} columns" if columns[1:] else f"their only column, {columns[0]}"
            reason = f"{twins} of {len(rows)} test rows agree with a training row in {where}"
            yield task.finding("duplicates in train and test", reason, 0.8, file=table.name)


def _is_rare(known: pd.DataFrame) -> bool:
    """Whether rows are hardly ever repeated within the training data: else they say too little to be told apart."""
    return possible_rows(known) > 1e4 * len(known)


def digest(file: DataFile) -> bytes | None:
    """Says whether two files are the same, from their size and beginning."""
    size = file.path.stat().st_size
    if size < 32:
        return None
    with file.path.open("rb") as opened:
        return hashlib.sha256(size.to_bytes(8, "little") + opened.read(_HEAD_BYTES)).digest()


def thumbnail(file: DataFile) -> bytes | None:
    """A picture so small and coarse that size and compression leave it as it is; None for pictures without detail."""
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
