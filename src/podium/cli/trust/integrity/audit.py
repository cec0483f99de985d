"""`podium integrity audit`: checks of tasks for leaks and lenient graders."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from podium.cli.options import as_json, data_dir, edition, print_json, task_folders
from podium.text import plural, printable

if TYPE_CHECKING:
    from podium.grading.prepared_task import PreparedTask
    from podium.integrity.audit import TaskFinding
    from podium.task import Edition


@click.command(name="audit")
@click.argument("names", metavar="TASK|SUITE...", nargs=-1, required=True)
@click.option("--miniature", is_flag=True, help="Audit the fabricated miniatures, and prepare missing ones.")
@edition
@data_dir
@task_folders
@as_json
def command(
    names: tuple[str, ...], miniature: bool, edition: Edition | None, data_dir: Path | None, as_json: bool
) -> None:
    """Audit tasks: leaked labels, groups on both sides of the split, lenient graders.

    Needs the prepared data and its answers. Known faults that a task documents are not taken into account. Findings are
    evidence for a person to judge; a remark may be intended.
    """
    from podium.catalog import registry
    from podium.integrity.audit import audit

    tasks = registry.expand(list(names))
    if edition and not any(edition in registry.load(name).editions for name in tasks):
        registry.load(tasks[0]).in_edition(edition)  # raises an error that lists the editions
    results = {}
    for name in tasks:
        prepared = _prepared(name, edition, data_dir, miniature=miniature)
        results[name] = audit(prepared)
        if not as_json:
            show_findings(results[name])
    if as_json:
        print_json({name: [asdict(finding) for finding in findings] for name, findings in results.items()})
        return
    faults = sum(finding.severity == "fault" for findings in results.values() for finding in findings)
    remarks = sum(map(len, results.values())) - faults
    counts = f"{plural(faults, 'fault')} and {plural(remarks, 'remark')} in {plural(len(results), 'task')}"
    click.echo(f"{counts}, for a person to judge.")


def _prepared(name: str, edition: Edition | None, data_dir: Path | None, *, miniature: bool) -> PreparedTask:
    from podium.catalog import registry
    from podium.data.prepare import prepare_task

    task = registry.load(name)
    chosen = edition if edition in (None, *task.editions) else None
    if miniature or task.generated:
        prepare_task(task, data_dir=data_dir, miniature=not task.generated, edition=chosen)
    return registry.resolve(task, edition=chosen, data_dir=data_dir, miniature=True if miniature else None)


def show_findings(findings: list[TaskFinding]) -> None:
    """Print the findings about a task."""
    for finding in findings:
        mark = "!" if finding.severity == "fault" else "·"
        file = f" ({finding.file})" if finding.file else ""
        text = f"{mark} {finding.task}{file}: {finding.kind} ({finding.confidence:.0%}): {finding.reason}"
        click.echo(printable(text))
