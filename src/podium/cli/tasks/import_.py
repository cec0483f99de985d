"""`podium import`: takes over leaderboards, texts and grading reports of MLE-bench, and trials of Harbor."""

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
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Where grading reports go.")
@click.option("--agent", help="Whose runs the grading reports are about.  [default: as the run group says]")
@as_json
def command(path: Path, out: Path | None, agent: str | None, as_json: bool) -> None:
    """Import leaderboards and results from MLE-bench or Harbor.

    With the leaderboards of an MLE-bench checkout, ranks and percentiles are exact from then on; tasks that are
    prepared later in edition v1 hand its texts to agents. A grading report, or a folder of them or of run groups,
    becomes an experiment that podium report and podium compare read; so do the trials of a job of Harbor on tasks that
    podium export wrote.
    """
    from podium.interop.harbor_import import import_harbor, is_harbor_job
    from podium.report.imported_results import import_reports, is_grading_reports

    target = out or Path("runs", f"imported-{path.resolve().stem}")
    if is_harbor_job(path):
        _tell(import_harbor(path, target, agent=agent), target, as_json=as_json)
    elif is_grading_reports(path):
        _tell(import_reports(path, target, agent=agent), target, as_json=as_json)
    else:
        _import_checkout(path, as_json=as_json)


def _tell(found: Import, out: Path, *, as_json: bool) -> None:
    tasks = found.by_task()
    missing = sum(found.seeds - len(reports) for reports in tasks.values())
    if as_json:
        facts = {"agent": found.agent, "tasks": len(tasks), "runs": len(found.reports), "missing": missing}
        print_json({"experiment": str(out), **facts})
        return
    click.echo(
        f"Imported {plural(len(found.reports), 'run')} of {found.agent} on {plural(len(tasks), 'task')} to {out}."
    )
    if missing:
        click.echo(f"{plural(missing, 'run')} missing for {plural(found.seeds, 'seed')} of every task.")
    click.echo(f"Next: podium report {out}", err=True)


def _import_checkout(path: Path, *, as_json: bool) -> None:
    from podium.catalog import leaderboards
    from podium.data.home import home
    from podium.data.mlebench_checkout import import_checkout

    done = import_checkout(path, list(leaderboards()))
    if as_json:
        print_json(asdict(done))
        return
    click.echo(f"{len(done.leaderboards)} leaderboards and {len(done.descriptions)} texts are now in {home()}.")
    if done.descriptions:
        click.echo("Tasks that are prepared from now on in edition v1 hand these texts to agents, not Podium's own.")
    if done.pointers:
        click.echo(f"{len(done.pointers)} files are only Git LFS pointers, such as {done.pointers[0]}: git lfs pull")
