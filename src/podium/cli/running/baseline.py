"""`podium baseline`: baseline score of a research task, from several runs of its unchanged starter code."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from podium.cli.follow_experiment import drive
from podium.cli.machines.completion import complete_task
from podium.cli.options import as_json, data_dir, edition, print_json, require_extra, resolve_env, task_folders
from podium.errors import UsageError
from podium.text import plural

if TYPE_CHECKING:
    from podium.grading.baseline_score import BaselineMeasurement


@click.command(name="baseline")
@click.argument("task", shell_complete=complete_task)
@click.option(
    "--seeds",
    metavar="N",
    type=click.IntRange(1),
    default=5,
    show_default=True,
    help="Number of runs of the starter code.",
)
@click.option(
    "--parallel", metavar="N", type=click.IntRange(1), default=1, show_default=True, help="Maximum concurrent runs."
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for these runs.  [default: a folder beside the task's data]",
)
@click.option("--miniature", is_flag=True, help="Use fabricated data instead of real data.")
@click.option("--env", metavar="ENV", help="Python environment of the starter code.  [default: Podium's own]")
@click.option(
    "--cores",
    metavar="N",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="CPU cores per program execution.",
)
@click.option(
    "--gpus", metavar="N", type=click.IntRange(0), default=0, show_default=True, help="GPUs per program execution."
)
@data_dir
@edition
@task_folders
@as_json
def command(task: str, as_json: bool, **options: Any) -> None:
    """Measure the score of a research task's starter code.

    Runs of the task are then graded by their improvement over the mean score. Repeat the command with a higher --seeds
    to add runs; earlier ones are kept.
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
        click.echo(f"The mean excludes {plural(measured.failed, 'run')} without a valid submission.")


def _measure(name: str, options: dict[str, Any]) -> BaselineMeasurement:
    from podium.catalog.registry import load
    from podium.cli.progress_bars import preparation_progress
    from podium.runs.attempt.grade_run import prepared_task
    from podium.runs.drive.driver import Driver
    from podium.runs.drive.executors import make_executor
    from podium.runs.experiment import open_experiment
    from podium.runs.measure_baseline import collect_baseline
    from podium.runs.plan.start_experiment import make_plan, prepare_missing

    task = load(name).in_edition(options["edition"])
    if task.starter is None:
        raise UsageError(f"{name} is a competition: it has no starter code and is graded against a leaderboard.")
    plan = make_plan(
        [name],
        agent="baseline",
        edition=task.edition,
        env=resolve_env(options["env"]),
        cores=options["cores"],
        gpus=options["gpus"],
        miniature=options["miniature"],
        data_dir=None if options["data_dir"] is None else options["data_dir"].absolute(),
    )
    with preparation_progress() as preparing:
        prepare_missing([name], plan, preparing=preparing)
    out = options["out"] or prepared_task(name, plan).place.root / "baseline-runs"
    experiment = open_experiment(out, plan, [name], options["seeds"])
    drive(Driver(experiment), make_executor(parallel=options["parallel"]))
    return collect_baseline(experiment, name)
