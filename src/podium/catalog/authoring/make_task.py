"""Task builder for your own data: writes a folder with task file, brief, data, miniature and a measured field."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from podium.catalog.authoring.choose_goal import SubmissionGoal
from podium.catalog.authoring.choose_split import Split, check_columns, choose_split
from podium.catalog.authoring.measured_field import OnScore, PipelineScore, field_document, measure_pipelines
from podium.catalog.authoring.picture_folder import PICTURE, copy_pictures, read_pictures
from podium.catalog.authoring.read_cells import read_cells
from podium.catalog.authoring.source_table import Table, check_features, clean_table, without_telling_groups
from podium.catalog.authoring.task_folder import Draft
from podium.catalog.listing import builtin_listings, builtin_suites
from podium.catalog.task_files import ID, RESERVED, load_task_file
from podium.data.columns import write_columns
from podium.errors import UsageError
from podium.safefs.remove_tree import remove_tree

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class NewTask:
    """Result of making a task."""

    folder: Path
    table: Table
    goal: SubmissionGoal
    split: Split
    train_rows: int
    test_rows: int
    field: list[PipelineScore]


def make_task(
    name: str,
    source: Path,
    *,
    target: str | None = None,
    metric: str | None = None,
    id_column: str | None = None,
    group: str | None = None,
    time: str | None = None,
    at_random: bool = False,
    automl: bool = False,
    out: Path,
    on_score: OnScore,
) -> NewTask:
    """Write the folder OUT/NAME of a task that predicts one column of a table from the others, or from pictures.

    Args:
        source: A CSV or parquet file, or a folder of images.
        target: The column to predict; default: the most likely one.
        metric: The name of a metric in `podium.metrics`; default: one that suits the target.
        id_column: The column of row ids; default: a column that looks like ids, or a new one.
        group: The column whose groups stay on one side of the split; default: detected.
        time: The column of times; the latest rows are for testing; default: detected.
        at_random: True to split at random instead of by group or time.
        automl: True to add FLAML to the field.
        on_score: Callback for the score of each entrant of the field.

    Raises:
        UsageError: No task can be made of that; the message says why.
    """
    folder = out / name
    _check_name(name, folder)
    if source.is_dir() and id_column:
        raise UsageError(f"--id {id_column}: pictures are copied under new ids. Leave out --id.")
    cells, lost = read_pictures(source) if source.is_dir() else (read_cells(source), [])
    draft = draft_task(
        name,
        cells,
        source,
        title=name.replace("-", " ").replace("_", " ").capitalize(),
        target=target,
        metric=metric,
        id_column=id_column,
        group=group,
        time=time,
        at_random=at_random,
        new_ids=source.is_dir(),
        notes=lost,
    )
    making = _new_folder(name, out)
    try:
        if source.is_dir():
            draft = _with_pictures(draft, source, making)
        made = _write(draft, making, on_score, automl=automl)
        making.chmod(0o755)
        making.rename(folder)
    finally:
        remove_tree(making)
    return replace(made, folder=folder)


def draft_task(
    name: str,
    cells: pd.DataFrame,
    source: Path,
    *,
    title: str,
    target: str | None = None,
    metric: str | None = None,
    id_column: str | None = None,
    group: str | None = None,
    time: str | None = None,
    at_random: bool = False,
    new_ids: bool = False,
    notes: Sequence[str] = (),
) -> Draft:
    """Return the draft of a task that predicts one column of a table, before its field is measured.

    Args:
        source: The source of the cells, for messages.
        group, time, at_random: The kind of split, as in `make_task`.
        new_ids: True to create new ids even if a column could serve as ids.
        notes: Notes for the user on how the cells were read.
    """
    check_columns(cells, group=group, time=time)  # before the rows are checked
    split_by = [name for name in (group, time) if name]
    table, goal = clean_table(
        cells, source, target=target, metric=metric, id_column=id_column, split_by=split_by, new_ids=new_ids
    )
    chosen = choose_split(table, goal, group=group, time=time, at_random=at_random)
    table = without_telling_groups(table, goal, [*split_by, chosen.column or ""])
    check_features(table, source)
    table = replace(table, notes=(*notes, *table.notes))
    if goal.positive is not None:
        table = _with_zeros_and_ones(table, goal.positive)
    return Draft(name, title, table, goal, table.columns(classes=goal.prediction != "number"), chosen)


def _check_name(name: str, folder: Path) -> None:
    if not ID.fullmatch(name) or name.startswith(RESERVED):
        raise UsageError(
            f"'{name}' is not a valid task id. Use letters, digits, '-', '_' and '.', and do not begin with "
            f"{' or '.join(RESERVED)}."
        )
    if name in builtin_suites() or any(listing.id == name for listing in builtin_listings()):
        raise UsageError(f"'{name}' is the name of a built-in task or suite. Choose another one.")
    if folder.exists():
        raise UsageError(f"{folder} already exists. Choose another name, or remove the folder.")


def _new_folder(name: str, out: Path) -> Path:
    """Create a temporary folder for the task, and remove those of killed processes."""
    out.mkdir(parents=True, exist_ok=True)
    for left in out.glob(f".{name}-making-*"):
        process = left.name.rpartition("-")[2]
        if process.isdecimal() and not _is_another(int(process)):
            remove_tree(left)
    making = out / f".{name}-making-{os.getpid()}"
    making.mkdir(mode=0o700)
    return making


def _is_another(process: int) -> bool:
    """Return whether another process with this id is running."""
    with suppress(ProcessLookupError):
        with suppress(PermissionError):  # the process of another user
            os.kill(process, 0)
        return process != os.getpid()
    return False


def _with_zeros_and_ones(table: Table, positive: str) -> Table:
    """Return the table with 1 for the positive class and 0 for the other, as probability metrics require."""
    rows = table.rows.copy()
    rows[table.target] = rows[table.target].eq(positive).astype(int).astype(str)
    return replace(table, rows=rows)


def _with_pictures(draft: Draft, source: Path, folder: Path) -> Draft:
    """Copy the images to the folder, under the ids of their rows, and return the updated draft."""
    table = replace(draft.table, rows=draft.table.rows.drop(columns=PICTURE))
    suffix = copy_pictures(draft.table.rows, table.id, source, folder / "train")
    columns = [column for column in draft.columns if column.name != PICTURE]
    return replace(draft, suffix=suffix, table=table, columns=columns)


def _write(draft: Draft, folder: Path, on_score: OnScore, *, automl: bool) -> NewTask:
    """Write the task without a field, prepare it, measure the field on it, and write it again with the field."""
    import pandas as pd

    from podium.data.prepare import prepare_task
    from podium.grading.prepared_task import find_prepared

    draft.table.rows.to_csv(folder / "train.csv", index=False)
    write_columns(draft.columns, folder / "columns.json")
    (folder / "task.py").write_text(draft.task_file([]), encoding="utf-8")
    (folder / "brief.md").write_text(draft.brief(0, 0, []), encoding="utf-8")
    with tempfile.TemporaryDirectory() as data_dir:
        task = load_task_file(folder / "task.py")
        place = prepare_task(task, data_dir=Path(data_dir)).place
        train, test = (len(pd.read_csv(place.public / part, dtype=str)) for part in ("train.csv", "test.csv"))
        prepared = find_prepared(task, data_dir=Path(data_dir))
        field = measure_pipelines(prepared, draft.goal, draft.columns, on_score, suffix=draft.suffix, automl=automl)
    (folder / "field.json").write_text(field_document(field), encoding="utf-8")
    (folder / "task.py").write_text(draft.task_file(field), encoding="utf-8")
    (folder / "brief.md").write_text(draft.brief(train, test, field), encoding="utf-8")
    remove_tree(folder / "__pycache__")
    return NewTask(folder, draft.table, draft.goal, draft.split, train, test, field)
