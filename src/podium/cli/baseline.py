"""`podium baseline`: runs a research task's starter code as it stands, several times, and keeps what it scores."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from podium.cli.options import as_json, data_dir, edition, print_json, require_extra, task_folders
from podium.errors import PodiumError, UsageError
from podium.text import plural

if TYPE_CHECKING:
    from podium.grading.baseline import BaselineMeasurement


@click.command(name="baseline")
@click.argument("task")
@click.option("--seeds", type=click.IntRange(1), default=5, show_default=True, help="Runs of the starter code.")
@click.option("--parallel", type=click.IntRange(1), default=1, show_default=True, help="Runs at a time.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="The folder of these runs.")
@click.option("--miniature", is_flag=True, help="Use a fabricated stand-in for data that is not there.")
@click.option("--env", help="The Python environment of the starter code.  [default: Podium's own]")
@click.option("--cores", type=click.IntRange(1), default=1, show_default=True, help="Cores per execution.")
@click.option("--gpus", type=click.IntRange(0), default=0, show_default=True, help="GPUs per execution.")
@data_dir
@edition
@task_folders
@as_json
def command(task: str, as_json: bool, **options: Any) -> None:
    """Measure what the starter code of a research TASK scores, and how much that varies.

    Improvement over the mean is what runs of the task are then judged by. Repeat the command with more --seeds to
    measure more often; earlier runs are kept.
    """
    require_extra("run")
    measured = _measure(task, options)
    if as_json:
        print_json({**vars(measured), "n": len(measured.scores), "mean": measured.mean, "sd": measured.sd})
        return
    spread = "" if measured.sd is None else f", standard deviation {measured.sd:.6g}"
    runs = plural(len(measured.scores), "run")
    click.echo(f"{measured.task} ({measured.edition}): mean {measured.mean:.6g} of {runs}{spread}")
    if measured.failed:
        click.echo(f"{plural(measured.failed, 'run')} without a valid submission, not part of the mean.")


def _measure(name: str, options: dict[str, Any]) -> BaselineMeasurement:
    from podium.catalog import load, resolve
    from podium.cli.run import drive, prepare_missing
    from podium.grading.baseline import BaselineMeasurement, write_baseline
    from podium.runs.driver import Driver
    from podium.runs.experiment import now, open_experiment
    from podium.runs.record import Plan
    from podium.runs.worker import versions

    task = load(name)
    if task.starter is None:
        raise UsageError(f"{name} is a competition: it has no starter code, people are what it is compared with.")
    edition = task.in_edition(options["edition"]).edition
    plan = Plan(
        agent="baseline",
        edition=edition,
        env=None if options["env"] is None else str(Path(options["env"]).absolute()),
        cores=options["cores"],
        gpus=options["gpus"],
        data_dir=None if options["data_dir"] is None else options["data_dir"].absolute(),
    )
    prepare_missing([name], plan, miniature=options["miniature"])
    place = resolve(task, edition=edition, data_dir=plan.data_dir).place
    out = options["out"] or place.root / "baseline-runs"
    driver = Driver(out, open_experiment(out, plan, [name], options["seeds"]), parallel=options["parallel"])
    drive(driver)
    records = [row.record for row in driver.rows]
    if any(record is None or record.status != "finished" for record in records):
        raise PodiumError(f"Not all runs were done. Repeat the command; their folder is {out}")
    scores = tuple(float(record.score) for record in records if record and record.valid and record.score is not None)
    measured = BaselineMeasurement(
        task=name,
        edition=edition,
        miniature=any(record.miniature for record in records if record),
        scores=scores,
        failed=len(records) - len(scores),
        machine={
            "processor": _processor(),
            "cores": str(plan.cores),
            "of": str(os.cpu_count()),
            "gpus": str(plan.gpus),
        },
        versions=versions(),
        measured=now(),
    )
    write_baseline(place, measured)
    return measured


def _processor() -> str:
    """The name of the processor, as the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    return next((line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.machine())
