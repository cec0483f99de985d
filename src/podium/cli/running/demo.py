"""`podium demo`: runs an agent that needs no model on the suite quick, in the sandbox, and grades it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from podium.cli.options import DURATION, require_extra
from podium.errors import PodiumError

if TYPE_CHECKING:
    from rich.table import Table

    from podium.runs.drive.driver import FollowedRun
    from podium.runs.experiment import Experiment

SUITE = "quick"


@click.command(name="demo")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("demo"),
    show_default=True,
    help="Folder of the experiment.",
)
@click.option("--time", "time_s", type=DURATION, default="20s", show_default=True, help="Working time per run.")
def command(out: Path, time_s: float) -> None:
    """Run an agent that needs no model on nine generated competitions.

    Needs no download, API key or network. Repeat the command to continue after an interruption.
    """
    require_extra("run")
    require_extra("report")
    from podium.cli.follow_experiment import drive
    from podium.runs.drive.driver import Driver
    from podium.runs.drive.executors import make_executor

    started = time.perf_counter()
    driver = Driver(_experiment(out, time_s))
    drive(driver, make_executor())
    _show(driver.runs, out)
    click.echo(
        f"Finished and graded {len(driver.runs)} runs of {time_s:g} s each in {time.perf_counter() - started:.0f} s."
    )
    click.echo(f"Next: podium steps {driver.runs[0].folder.path}, podium verify {out}, podium view {out}")
    if any(run.record is None or not run.record.valid for run in driver.runs):
        raise PodiumError(f"Some runs have no valid submission. See the reasons with: podium report {out}")


def _experiment(out: Path, time_s: float) -> Experiment:
    """Return the experiment of the demo, with prepared tasks."""
    import podium
    from podium.cli.progress_bars import preparation_progress
    from podium.runs.plan.start_experiment import make_plan, start_experiment

    tasks = podium.tasks(SUITE)
    plan = make_plan(tasks, agent="recipes", budget=podium.Budget(time_s=time_s))
    with preparation_progress() as preparing:
        return start_experiment(tasks, plan, seeds=1, out=out, preparing=preparing)


def _show(runs: list[FollowedRun], out: Path) -> None:
    """Print the table and the headline, and write the web page of the report."""
    import sys

    from rich.console import Console

    from podium.report.aggregate import headline
    from podium.report.rendering.html_report import render
    from podium.report.report_document import make_report
    from podium.safefs.atomic_files import write_atomically

    report = make_report([out])
    write_atomically(out / "report.html", render(report))
    console = Console(width=None if sys.stdout.isatty() else 112, highlight=False)
    console.print(_table(runs))
    console.print(f"[bold]{headline(report.summaries[0])}[/bold]. Full report: {out}/report.html")


def _table(runs: list[FollowedRun]) -> Table:
    """Return a table of the agent's scores beside those of the sample submission."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    import podium
    from podium.data.home import locate
    from podium.task import Columns

    table = Table("task", "metric", "sample", "recipes", "scripts", "percentile", "medal", box=SIMPLE_HEAD)
    for run in runs:
        task, record = podium.load(run.request.task), run.record
        assert isinstance(task.submission, Columns)
        sample = podium.grade(task, locate(run.request.task).public / task.submission.sample)
        arrow = "↑" if task.metric.higher_is_better else "↓"
        table.add_row(
            run.request.task,
            f"{task.metric.title} {arrow}",
            f"{sample.score:.3f}",
            "-" if record is None or record.score is None else f"{float(record.score):.3f}",
            str(record.usage.executions if record else 0),
            "-" if record is None or record.percentile is None else f"{record.percentile:.0f}",
            (record and record.medal) or "-",
        )
    return table
