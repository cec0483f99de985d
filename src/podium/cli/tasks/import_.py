"""`podium import`: leaderboards, task descriptions and grading reports of MLE-bench, and trials of Harbor."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from podium.cli.options import as_json, print_json
from podium.text import plural

if TYPE_CHECKING:
    from podium.report.imported_results import Import


@click.command(name="import")
@click.argument("path", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the imported experiment.  [default: a new one below runs]",
)
@click.option("--agent", metavar="NAME", help="Name of the agent of imported runs.  [default: from the run group]")
@as_json
def command(path: Path, out: Path | None, agent: str | None, as_json: bool) -> None:
    """Import leaderboards and results from MLE-bench or Harbor.

    PATH is one of: an MLE-bench checkout, whose leaderboards make ranks and percentiles exact and whose task
    descriptions replace Podium's in tasks prepared later in edition v1; a grading report or run group of MLE-bench, or
    a folder of them; a Harbor job on tasks written by podium export. Reports, run groups and jobs become an experiment
    for podium report and podium compare.
    """
    from podium.interop.harbor_import import import_harbor, is_harbor_job
    from podium.report.imported_results import import_reports, is_grading_reports

    target = out or Path("runs", f"imported-{path.resolve().stem}")
    if is_harbor_job(path):
        _print_import(import_harbor(path, target, agent=agent), target, as_json=as_json)
    elif is_grading_reports(path):
        _print_import(import_reports(path, target, agent=agent), target, as_json=as_json)
    else:
        _import_checkout(path, as_json=as_json)


def _print_import(imported: Import, out: Path, *, as_json: bool) -> None:
    tasks = imported.by_task()
    missing = sum(imported.seeds - len(reports) for reports in tasks.values())
    if as_json:
        facts = {"agent": imported.agent, "tasks": len(tasks), "runs": len(imported.reports), "missing": missing}
        print_json({"experiment": str(out), **facts})
        return
    click.echo(
        f"Imported {plural(len(imported.reports), 'run')} of {imported.agent} on {plural(len(tasks), 'task')} to {out}."
    )
    if missing:
        click.echo(f"{plural(missing, 'run')} missing to have {plural(imported.seeds, 'seed')} of each task.")
    click.echo(f"Next: podium report {out}", err=True)


def _import_checkout(path: Path, *, as_json: bool) -> None:
    from podium.catalog.registry import leaderboards
    from podium.data.home import home
    from podium.data.mlebench_checkout import import_checkout

    done = import_checkout(path, list(leaderboards()))
    if as_json:
        print_json(asdict(done))
        return
    click.echo(
        f"Imported {len(done.leaderboards)} leaderboards and {len(done.descriptions)} task descriptions to {home()}."
    )
    if done.descriptions:
        click.echo("Tasks prepared from now on in edition v1 use these descriptions.")
    if done.pointers:
        click.echo(
            f"{len(done.pointers)} files are only Git LFS pointers, such as {done.pointers[0]}. Run: git lfs pull"
        )
