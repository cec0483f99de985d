"""The demonstration: an agent that needs no model works on the quick suite in the sandbox, and is graded."""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

import podium
from podium.data.files import write_atomically
from podium.data.home import locate
from podium.report.aggregate import headline
from podium.report.document import make_report
from podium.report.html import render
from podium.runs.driver import Driver, FollowedRun
from podium.runs.executors import make_executor
from podium.runs.experiment import open_experiment
from podium.runs.models import Plan
from podium.workspace.budget import Budget

OUT = Path(__file__).parent.parent / "demo"
TIME_S = 20.0


def main() -> None:
    started = time.perf_counter()
    tasks = podium.tasks("quick")
    for task_id in tasks:
        podium.prepare(task_id)
    shutil.rmtree(OUT, ignore_errors=True)
    plan = Plan(agent="recipes", budget=Budget(time_s=TIME_S))
    driver = Driver(open_experiment(OUT, plan, tasks, 1))
    driver.carry_out(make_executor(), tell)
    report = make_report([OUT])
    write_atomically(OUT / "report.html", render(report))
    console = Console(width=None if sys.stdout.isatty() else 112, highlight=False)
    console.print(table(driver.runs))
    console.print(f"[bold]{headline(report.summaries[0])}[/bold]. The whole report: {OUT.name}/report.html")
    console.print(
        f"{len(tasks)} runs of {TIME_S:g} s working time each, graded, in {time.perf_counter() - started:.0f} s."
    )
    console.print(f"Next: podium steps {OUT.name}/{tasks[0]}/0, podium verify {OUT.name}, podium view {OUT.name}")
    if any(run.record is None or not run.record.valid for run in driver.runs):
        sys.exit("Some runs did not come to a valid submission: see worker.log in their folders.")


def tell(run: FollowedRun) -> None:
    """Says when a run has ended."""
    if run.record is not None:
        print(f"{run.request.task}: {run.record.medal or 'no medal'}", file=sys.stderr, flush=True)


def table(runs: list[FollowedRun]) -> Table:
    """What the agent reached, beside the sample submission."""
    shown = Table("task", "metric", "sample", "recipes", "scripts", "percentile", "medal", box=SIMPLE_HEAD)
    for run in runs:
        task, record = podium.load(run.request.task), run.record
        sample = podium.grade(task, locate(run.request.task).public / task.submission.sample)
        arrow = "↑" if task.metric.higher_is_better else "↓"
        score = "-" if record is None or record.score is None else f"{float(record.score):.3f}"
        percentile = "-" if record is None or record.percentile is None else f"{record.percentile:.0f}"
        shown.add_row(
            run.request.task,
            f"{task.metric.title} {arrow}",
            f"{sample.score:.3f}",
            score,
            str(record.usage.executions if record else 0),
            percentile,
            (record and record.medal) or "-",
        )
    return shown


if __name__ == "__main__":
    main()
