"""`podium new-task`: makes a task of somebody's own table."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from podium.data.trees import remove_tree

if TYPE_CHECKING:
    from podium.catalog.new_task import NewTask


@click.command(name="new-task")
@click.argument("name")
@click.option(
    "--from",
    "source",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    required=True,
    help="A CSV file whose rows have the target.",
)
@click.option("--target", required=True, metavar="COLUMN", help="The column to predict.")
@click.option("--metric", help="Such as roc_auc, accuracy or rmse.  [default: one that suits the target]")
@click.option("--id", "id_column", metavar="COLUMN", help="The column that names rows.  [default: found, or made]")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("tasks"),
    show_default=True,
    help="The folder of tasks; the task gets a folder NAME in it.",
)
def command(name: str, source: Path, **options: Any) -> None:
    """Make a task NAME from a CSV file: split, brief, miniature, and medals from a measured field."""
    from podium.catalog.new_task import make_task

    def on_score(pipeline: str, score: float | None) -> None:
        click.echo(f"  {pipeline}: {'undefined' if score is None else f'{score:.5g}'}", err=True)

    click.echo("Training the field that medals are taken from:", err=True)
    made = make_task(name, source, **options, on_score=on_score)
    for line in _lines(made, name, options["out"]):
        click.echo(line)
    _audit(made)


def _audit(made: NewTask) -> None:
    """Looks for faults of the new task, as `podium integrity audit` does."""
    from podium.catalog.task_files import load_task_file
    from podium.cli.integrity.audit import show_findings
    from podium.data.prepare import prepare_task
    from podium.grading.prepared import find_prepared
    from podium.integrity.audit import audit

    with tempfile.TemporaryDirectory() as data_dir:
        task = load_task_file(made.folder / "task.py")
        prepare_task(task, data_dir=Path(data_dir))
        show_findings(audit(find_prepared(task, data_dir=Path(data_dir))))
    remove_tree(made.folder / "__pycache__")


def _lines(made: NewTask, name: str, out: Path) -> list[str]:
    """What was made, and what to do next."""
    table, metric = made.table, made.goal.metric
    lines = [f"{made.folder}: {made.train_rows:,} train rows, {made.test_rows:,} test rows, metric {metric.title}"]
    if table.left_out:
        lines.append(f"{table.left_out:,} rows without '{table.target}' were left out.")
    if made.goal.positive not in (None, "1"):
        lines.append(f"'{table.target}' is 1 where the file says '{made.goal.positive}', else 0.")
    lines.append(f"Rows are named by {'new ids in the column' if table.new_id else 'the column'} '{table.id}'.")
    lines.append(f"Next: podium prepare {name} --tasks {out}, then podium run {name} --tasks {out}")
    return lines
