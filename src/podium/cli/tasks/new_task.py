"""`podium new-task`: task made from a table or a folder of images."""

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
    click.option("--target", metavar="COLUMN", help="Column to predict.  [default: detected]"),
    click.option("--metric", metavar="NAME", help="Metric, such as roc_auc or rmse.  [default: chosen by the target]"),
    click.option("--id", "id_column", metavar="COLUMN", help="Column with row ids.  [default: detected or created]"),
    click.option(
        "--group", metavar="COLUMN", help="Keep rows with the same value on one side of the split.  [default: detected]"
    ),
    click.option("--time", metavar="COLUMN", help="Test on the latest rows by this column.  [default: detected]"),
    click.option(
        "--random", "at_random", is_flag=True, help="Draw test rows at random; do not detect groups or times."
    ),
    click.option("--automl", is_flag=True, help="Add FLAML to the entrants of the leaderboard; needs podium[automl]."),
    click.option(
        "--out",
        type=click.Path(file_okay=False, path_type=Path),
        default=Path("tasks"),
        show_default=True,
        help="Folder of tasks, in which the folder NAME is created.",
    ),
)


def data_option(*, required: bool) -> Callable[[Decorated], Decorated]:
    """Return the option `--from`, the data for a new task."""
    return click.option(
        "--from",
        "source",
        type=click.Path(exists=True, path_type=Path),
        required=required,
        metavar="DATA",
        help="CSV or parquet file, or a folder of images with a subfolder per label or a table of labels.",
    )


def new_task_options(command: Decorated) -> Decorated:
    """Add the options of a task made from data."""
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

    Chooses and explains target, metric and split unless they are given. Drops duplicates and columns that leak the
    target, and audits the new task.
    """
    make_from_data(name, source, as_json=as_json, **options)


def make_from_data(name: str, source: Path, *, as_json: bool, **options: Any) -> None:
    """Make a task, audit it and print a summary."""
    from podium.catalog.authoring.make_task import make_task

    def on_score(pipeline: str, score: float | None) -> None:
        click.echo(f"  {pipeline}: {'undefined' if score is None else f'{score:.5g}'}", err=True)

    click.echo("Training the entrants that define the medals:", err=True)
    made = make_task(name, source, **options, on_score=on_score)
    findings = audit_new_task(made)
    if as_json:
        print_json(_document(made, name, findings))
        return
    from podium.cli.trust.integrity.audit import show_findings

    for line in _lines(made):
        click.echo(line)
    show_findings(findings)
    click.echo(f"Audit: {_counted(findings)}.")
    click.echo(f"Next: podium prepare {name} --tasks {options['out']}")
    click.echo(f"      podium run {name} --tasks {options['out']}")


def audit_new_task(made: NewTask) -> list[TaskFinding]:
    """Return the faults of a new task, like `podium integrity audit`."""
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
    """Return the lines of the summary of a new task."""
    table, goal = made.table, made.goal
    lines = [f"{made.folder}: {made.train_rows:,} train rows, {made.test_rows:,} test rows, metric {goal.metric.title}"]
    lines += table.notes
    if goal.negative is not None:
        lines.append(f"'{table.target}' is 1 for '{goal.positive}' and 0 for '{goal.negative}'.")
    lines.append(f"Row ids are {'created' if table.new_id else 'taken'} in the column '{table.id}'.")
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
