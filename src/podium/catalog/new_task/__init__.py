"""Makes a task of a table: a folder with task file, brief, data, miniature and a measured field."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from podium.catalog.listing import builtin_listings, builtin_suites
from podium.catalog.new_task.field import OnScore, PipelineScore, field_document, measure_pipelines
from podium.catalog.new_task.files import Draft
from podium.catalog.new_task.goal import Goal, choose_goal
from podium.catalog.new_task.table import Table, read_table
from podium.catalog.task_files import ID, RESERVED, load_task_file
from podium.data.columns import write_columns
from podium.data.trees import remove_tree
from podium.errors import UsageError


@dataclass(frozen=True)
class NewTask:
    """What was made."""

    folder: Path
    table: Table
    goal: Goal
    train_rows: int
    test_rows: int
    field: list[PipelineScore]


def make_task(
    name: str,
    source: Path,
    *,
    target: str,
    metric: str | None = None,
    id_column: str | None = None,
    out: Path,
    on_score: OnScore,
) -> NewTask:
    """Writes the folder OUT/NAME of a task that predicts one column of a CSV file from the others.

    Args:
        metric: by its name in `podium.metrics`; by default one that suits the target.
        id_column: names the rows; by default a column that looks like it, or a new one.
        on_score: is told of every entrant of the field as it is scored.

    Raises:
        UsageError: no task can be made of that; says why.
    """
    folder = out / name
    _check_name(name, folder)
    table = read_table(source, target=target, id_column=id_column)
    goal = choose_goal(table.rows[target], metric)
    if goal.positive is not None:
        table = _with_zeros_and_ones(table, goal.positive)
    title = name.replace("-", " ").replace("_", " ").capitalize()
    draft = Draft(name, title, table, goal, table.columns(classes=goal.prediction != "number"))
    out.mkdir(parents=True, exist_ok=True)
    making = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=out))
    try:
        made = _write(draft, making, on_score)
        making.chmod(0o755)
        making.rename(folder)
    finally:
        remove_tree(making)
    return replace(made, folder=folder)


def _check_name(name: str, folder: Path) -> None:
    if not ID.fullmatch(name) or name.startswith(RESERVED):
        raise UsageError(f"'{name}' cannot be the id of a task. Use letters, digits, '-', '_' and '.'.")
    if name in builtin_suites() or any(listing.id == name for listing in builtin_listings()):
        raise UsageError(f"'{name}' is the name of a built-in task or suite. Choose another one.")
    if folder.exists():
        raise UsageError(f"{folder} is there already. Choose another name, or remove it first.")


def _with_zeros_and_ones(table: Table, positive: str) -> Table:
    """The table with 1 for the positive class and 0 for the other, which scores of probabilities need."""
    target = table.rows[table.target].eq(positive).astype(int).astype(str)
    return replace(table, rows=table.rows.assign(**{table.target: target}))


def _write(draft: Draft, folder: Path, on_score: OnScore) -> NewTask:
    """Writes the task without a field, prepares it, lets the field train on it, and writes it again with the field."""
    import pandas as pd

    from podium.data.prepare import prepare_task
    from podium.grading.prepared import find_prepared

    draft.table.rows.to_csv(folder / "train.csv", index=False)
    write_columns(draft.columns, folder / "columns.json")
    (folder / "task.py").write_text(draft.task_file([]), encoding="utf-8")
    (folder / "brief.md").write_text(draft.brief(0, 0, []), encoding="utf-8")
    with tempfile.TemporaryDirectory() as data_dir:
        task = load_task_file(folder / "task.py")
        place = prepare_task(task, data_dir=Path(data_dir)).place
        train, test = (len(pd.read_csv(place.public / part, dtype=str)) for part in ("train.csv", "test.csv"))
        field = measure_pipelines(find_prepared(task, data_dir=Path(data_dir)), draft.goal, draft.columns, on_score)
    (folder / "field.json").write_text(field_document(field), encoding="utf-8")
    (folder / "task.py").write_text(draft.task_file(field), encoding="utf-8")
    (folder / "brief.md").write_text(draft.brief(train, test, field), encoding="utf-8")
    remove_tree(folder / "__pycache__")
    return NewTask(folder, draft.table, draft.goal, train, test, field)
