"""`podium integrity audit`: whether tasks are sound."""

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
@click.option("--miniature", is_flag=True, help="Audit the fabricated miniatures, prepared if they are not there.")
@edition
@data_dir
@task_folders
@as_json
def command(
    names: tuple[str, ...], miniature: bool, edition: Edition | None, data_dir: Path | None, as_json: bool
) -> None:
    """Look for faults of tasks: labels in public files, groups that cross the split, gullible graders.

    Needs prepared data with its answers. Nothing that a task says about its own faults is read. What is found is
    evidence for a person to judge; a remark may well be meant.
    """
    from podium import catalog
    from podium.integrity.audit import audit

    tasks = catalog.expand(list(names))
    if edition and not any(edition in catalog.load(name).editions for name in tasks):
        catalog.load(tasks[0]).in_edition(edition)  # says which there are
    results = {}
    for name in tasks:
        prepared = _prepared(name, edition, data_dir, miniature=miniature)
        results[name] = audit(prepared)
        if not as_json:
            show_findings(results[name])
    if as_json:
        print_json({name: [asdict(finding) for finding in found] for name, found in results.items()})
        return
    faults = sum(finding.severity == "fault" for found in results.values() for finding in found)
    remarks = sum(map(len, results.values())) - faults
    told = f"{plural(faults, 'fault')} and {plural(remarks, 'remark')} in {plural(len(results), 'task')}"
    click.echo(f"{told}, for a person to judge.")


def _prepared(name: str, edition: Edition | None, data_dir: Path | None, *, miniature: bool) -> PreparedTask:
    from podium import catalog
    from podium.data.prepare import prepare_task

    task = catalog.load(name)
    chosen = edition if edition in (None, *task.editions) else None
    if miniature or task.generated:
        prepare_task(task, data_dir=data_dir, miniature=not task.generated, edition=chosen)
    return catalog.resolve(task, edition=chosen, data_dir=data_dir, miniature=True if miniature else None)


def show_findings(findings: list[TaskFinding]) -> None:
    """Prints what was found about a task."""
    for finding in findings:
        mark = "!" if finding.severity == "fault" else "·"
        where = f" ({finding.file})" if finding.file else ""
        text = f"{mark} {finding.task}: {finding.kind} ({finding.confidence:.0%}): {finding.reason}{where}"
        click.echo(printable(text))
