"""`podium new-task`: makes a task of somebody's own data."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from podium.cli.options import Decorated, as_json, print_json
from podium.safefs.remove_tree import remove_tree

if TYPE_CHECKING:
    from podium.catalog.authoring.make_task import NewTask
    from podium.integrity.audit import TaskFinding

_OPTIONS = (
    click.option("--target", metavar="COLUMN", help="The column to predict.  [default: the one most likely meant]"),
    click.option("--metric", help="Such as roc_auc, accuracy or rmse.  [default: one that suits the target]"),
    click.option("--id", "id_column", metavar="COLUMN", help="The column that names rows.  [default: found, or made]"),
    click.option("--group", metavar="COLUMN", help="Keep rows with one value of it together.  [default: looked for]"),
    click.option("--time", metavar="COLUMN", help="Test on the latest rows by it.  [default: looked for]"),
    click.option("--random", "at_random", is_flag=True, help="Draw test rows at random, whatever columns hold."),
    click.option("--automl", is_flag=True, help="Let FLAML compete in the field too; needs podium[automl]."),
    click.option(
        "--out",
        type=click.Path(file_okay=False, path_type=Path),
        default=Path("tasks"),
        show_default=True,
        help="The folder of tasks; the task gets a folder NAME in it.",
    ),
)


def data_option(*, required: bool) -> Callable[[Decorated], Decorated]:
    """`--from`, the data that a task is made of."""
    return click.option(
        "--from",
        "source",
        type=click.Path(exists=True, path_type=Path),
        required=required,
        metavar="DATA",
        help="A CSV or parquet file, or a folder of pictures with a subfolder or a table of labels.",
    )


def new_task_options(command: Decorated) -> Decorated:
    """What can be said about a task that is made of data."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.command(name="new-task")
@click.argument("name")
@data_option(required=True)
@new_task_options
@as_json
def command(name: str, source: Path, as_json: bool, **options: Any) -> None:
    """Make a task from your own data.

    Chooses target, metric and split where none is given, and says why. Duplicates and columns that give the target
    away are left out. In the end the task is audited.
    """
    make_from_data(name, source, as_json=as_json, **options)


def make_from_data(name: str, source: Path, *, as_json: bool, **options: Any) -> None:
    """Makes the task, audits it, and prints what became of it."""
    from podium.catalog.authoring.make_task import make_task

    def on_score(pipeline: str, score: float | None) -> None:
        click.echo(f"  {pipeline}: {'undefined' if score is None else f'{score:.5g}'}", err=True)

    click.echo("Training the field that medals are taken from:", err=True)
    made = make_task(name, source, **options, on_score=on_score)
    findings = audit_new_task(made)
    if as_json:
        print_json(_document(made, name, findings))
        return
    from podium.cli.trust.integrity.audit import show_findings

    for line in _lines(made):
        click.echo(line)
    show_findings(findings)
    click.echo(f"The audit found {_counted(findings)}.")
    click.echo(f"Next: podium prepare {name} --tasks {options['out']}, then podium run {name} --tasks {options['out']}")


def audit_new_task(made: NewTask) -> list[TaskFinding]:
    """The faults of the new task, as `podium integrity audit` finds them."""
    from podium.catalog.task_files import load_task_file
    from podium.data.prepare import prepare_task
    from podium.grading.prepared_task import find_prepared
    from podium.integrity.audit import audit

    with tempfile.TemporaryDirectory() as data_dir:
        task = load_task_file(made.folder / "task.py")
        prepare_task(task, data_dir=Path(data_dir))
        findings = audit(find_prepared(task, data_dir=Path(data_dir)))
    remove_tree(made.folder / "__pycache__")
    return findings


def _counted(findings: list[TaskFinding]) -> str:
    from podium.text import plural

    faults = sum(finding.severity == "fault" for finding in findings)
    return f"{plural(faults, 'fault')} and {plural(len(findings) - faults, 'remark')}"


def _lines(made: NewTask) -> list[str]:
    """What was made."""
    table, goal = made.table, made.goal
    lines = [f"{made.folder}: {made.train_rows:,} train rows, {made.test_rows:,} test rows, metric {goal.metric.title}"]
    lines += table.notes
    if goal.negative is not None:
        lines.append(f"'{table.target}' is 1 where the data says '{goal.positive}', and 0 for '{goal.negative}'.")
    lines.append(f"Rows are named by {'new ids in the column' if table.new_id else 'the column'} '{table.id}'.")
    return [*lines, made.split.reason]


def _document(made: NewTask, name: str, findings: list[TaskFinding]) -> dict[str, Any]:
    return {
        "task": name,
        "folder": str(made.folder),
        "target": made.table.target,
        "metric": made.goal.metric.name,
        "id": made.table.id,
        "split": asdict(made.split),
        "train_rows": made.train_rows,
        "test_rows": made.test_rows,
        "notes": list(made.table.notes),
        "field": [asdict(entrant) for entrant in made.field],
        "findings": [asdict(finding) for finding in findings],
    }
