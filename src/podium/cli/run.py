"""`podium run`: lets an agent work on tasks, many runs at a time, and continues what was interrupted."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from podium.cli.options import as_json, data_dir, edition, print_json, require_extra, task_folders
from podium.errors import NotPreparedError, PodiumError, UsageError
from podium.text import parse_duration, parse_size, plural

if TYPE_CHECKING:
    from podium.runs.driver import Driver, Row
    from podium.runs.record import Plan, RunRecord


class Parsed(click.ParamType):
    """A value with a unit, such as 24h or 8G."""

    def __init__(self, name: str, parse: Callable[[str], float]) -> None:
        self.name, self._parse = name, parse

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> float:
        try:
            return self._parse(value) if isinstance(value, str) else value
        except ValueError as error:
            self.fail(str(error), param, context)


DURATION, SIZE = Parsed("time", parse_duration), Parsed("size", parse_size)


@click.command(name="run")
@click.argument("names", metavar="TASK|SUITE...", nargs=-1, required=True)
@click.option("--agent", default="recipes", show_default=True, help="Who does it; see: podium agents")
@click.option("-A", "options", multiple=True, metavar="NAME=VALUE", help="An option of the agent. Repeatable.")
@click.option("--model", help="The model the agent uses, as Inspect names it: openai/gpt-4o, ...")
@click.option("--model-base-url", help="Where the model is served, if not where its maker serves it.")
@click.option(
    "--role", "roles", multiple=True, metavar="ROLE=MODEL[@URL]", help="A model for one of the agent's roles."
)
@click.option("--seeds", type=click.IntRange(1), default=1, show_default=True, help="Runs of each task.")
@click.option("--time", "time_s", type=DURATION, help="Working time per run, such as 24h. Waiting is not counted.")
@click.option("--wall-time", "wall_s", type=DURATION, help="Time per run by the clock, waiting included.")
@click.option("--steps", type=click.IntRange(1), help="Steps per run.")
@click.option("--tokens", type=click.IntRange(1), help="Model tokens per run.")
@click.option("--cost", type=float, help="Dollars for models per run.")
@click.option("--parallel", type=click.IntRange(1), help="Runs at a time.  [default: twice the number of cores]")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="The experiment's folder.")
@click.option("--retry", is_flag=True, help="Do failed runs again.")
@click.option("--miniature", is_flag=True, help="Use fabricated stand-ins for data that is not there.")
@click.option("--sandbox", type=click.Choice(["bubblewrap", "docker", "none"]), default="bubblewrap", show_default=True)
@click.option("--network", is_flag=True, help="Let programs inside use the host's network.")
@click.option("--env", help="The agent's Python environment.  [default: Podium's own]")
@click.option("--memory", "memory_bytes", type=SIZE, help="Memory per run, such as 8G.")
@click.option("--disk", "disk_bytes", type=SIZE, help="Disk space per run, such as 50G.")
@click.option("--cores", type=click.IntRange(1), default=1, show_default=True, help="Cores per execution.")
@click.option("--gpus", type=click.IntRange(0), default=0, show_default=True, help="GPUs per execution.")
@click.option("--goal", metavar="TEXT", help="What to do in DIR, given in place of a task: any folder with code.")
@click.option("--script", default="train.py", show_default=True, help="With --goal: the script to run.")
@click.option(
    "--editable", multiple=True, metavar="PATTERN", help="With --goal: files that may change.  [default: all]"
)
@click.option("--score", metavar="NAME", help="With --goal: the script prints its score as 'NAME: NUMBER'.")
@click.option("--lower", is_flag=True, help="With --score: lower is better.")
@click.option(
    "--answers",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="With --goal: a CSV file, ids first, that submission.csv is compared with.",
)
@click.option("--metric", metavar="NAME", help="With --answers: the metric, such as rmse or accuracy.")
@click.option("--person", is_flag=True, help="Agents may ask you for help, on this terminal.")
@click.option("--curve", is_flag=True, help="Also grade every earlier submission: score over time.")
@data_dir
@edition
@task_folders
@as_json
def command(names: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Let an agent work on tasks, and grade what it submits. Repeat the command to continue an experiment."""
    require_extra("run")
    from podium.catalog import expand
    from podium.runs.driver import Driver
    from podium.runs.experiment import open_experiment

    plan = _plan(options)
    tasks = [_folder_task(names, options)] if options["goal"] else expand(_no_folders(names))
    prepare_missing(tasks, plan, miniature=options["miniature"])
    out = options["out"] or Path("runs", f"{datetime.now():%Y%m%d-%H%M%S}-{plan.agent}")
    experiment = open_experiment(out, plan, tasks, options["seeds"])
    parallel = options["parallel"] or _default_parallel()
    driver = Driver(out, experiment, parallel=parallel, retry=options["retry"], answer=_answer)
    if not as_json:
        click.echo(f"{plural(len(driver.rows), 'run')} in {out}", err=True)
    drive(driver)
    if options["curve"]:
        _grade_curves(driver)
    records = [row.record.model_dump(mode="json") for row in driver.rows if row.record]
    if as_json:
        print_json(records)
    else:
        _summarise(driver.rows)
    _complain(driver.rows, out)


def _plan(options: dict[str, Any]) -> Plan:
    """The plan the options describe, checked before anything is started."""
    from podium.agents import read_options
    from podium.runs.record import Budget, Plan
    from podium.sandbox.interpreter import find_interpreter
    from podium.sandbox.policy import Limits

    agent_options = _pairs(options["options"], "-A")
    read_options(options["agent"], agent_options)
    find_interpreter(options["env"])
    limits = {name: options[name] for name in ("memory_bytes", "disk_bytes") if options[name] is not None}
    budget = {name: options[name] for name in ("time_s", "wall_s", "steps", "tokens", "cost")}
    return Plan(
        agent=options["agent"],
        options=agent_options,
        model=options["model"],
        model_base_url=options["model_base_url"],
        model_roles=_pairs(options["roles"], "--role"),
        budget=Budget(**budget),
        edition=options["edition"],
        sandbox=options["sandbox"],
        network=options["network"],
        env=None if options["env"] is None else str(Path(options["env"]).absolute()),
        limits=Limits(**limits),
        cores=options["cores"],
        gpus=options["gpus"],
        data_dir=None if options["data_dir"] is None else options["data_dir"].absolute(),
        person=options["person"],
    )


def _folder_task(names: tuple[str, ...], options: dict[str, Any]) -> str:
    """The id of the task that a folder and a goal make."""
    from podium.catalog.folder import FolderTaskSpec, register

    folder = Path(names[0])
    if len(names) > 1 or not folder.is_dir():
        raise UsageError(f"--goal is for one folder with code in it; {' '.join(names)} is not one.")
    spec = FolderTaskSpec(
        goal=options["goal"],
        script=options["script"],
        editable=options["editable"],
        score=options["score"] or "",
        higher_is_better=not options["lower"],
        metric=options["metric"] or "",
    )
    return register(folder, spec, options["answers"])


def _no_folders(names: tuple[str, ...]) -> list[str]:
    for name in names:
        if "/" in name and Path(name).is_dir():
            raise UsageError(f"{name} is a folder. Say what to do in it: --goal TEXT --score NAME")
    return list(names)


def _answer(row: Row, request: str) -> str | None:
    """What the person at the terminal says to an agent's request."""
    click.echo(f"\n{row.name} asks for help:\n{request}\n", err=True)
    try:
        return str(click.prompt("Your answer", err=True))
    except click.Abort:  # no terminal, or no wish to answer
        return None


def _pairs(texts: tuple[str, ...], option: str) -> dict[str, str]:
    wrong = [text for text in texts if "=" not in text]
    if wrong:
        raise UsageError(f"{option} {wrong[0]}: write NAME=VALUE")
    return dict(text.split("=", 1) for text in texts)


def prepare_missing(tasks: list[str], plan: Plan, *, miniature: bool) -> None:
    """Makes what costs nothing to make; real competition data is never downloaded behind somebody's back."""
    from podium.catalog import load
    from podium.cli.prepare import prepare_all
    from podium.data.home import locate

    missing = []
    for task_id in tasks:
        task = load(task_id)
        edition = task.in_edition(plan.edition).edition
        if not locate(task_id, edition=edition, data_dir=plan.data_dir).manifest.exists():
            if not (miniature or task.generated):
                raise NotPreparedError(
                    f"The data of {task_id} is not there. Run: podium prepare {task_id}, or add --miniature to try it "
                    "with a fabricated stand-in"
                )
            missing.append(task_id)
    if not missing:
        return
    from podium.cli.progress import show_progress

    options = {"miniature": miniature, "data_dir": plan.data_dir, "edition": plan.edition}
    with show_progress("Preparing", len(missing)) as progress:
        for outcome in prepare_all(missing, jobs=_default_parallel() // 2, options=options):
            if outcome.error:
                raise PodiumError(f"{outcome.task} could not be prepared: {outcome.error}")
            progress.advance(f"{outcome.task}: {outcome.status}")


def _default_parallel() -> int:
    import os

    return 2 * len(os.sched_getaffinity(0))


def drive(driver: Driver) -> None:
    def interrupt(*_: object) -> None:
        driver.stop()
        click.echo("\nStopping after the current steps. Once more: stop now.", err=True)

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        if sys.stderr.isatty() and not driver.plan.person:  # a table that redraws itself would hide questions
            from podium.cli.live import live_table

            with live_table(driver.rows) as changed:
                driver.run(changed)
        else:
            driver.run(_line_printer())
    finally:
        signal.signal(signal.SIGINT, before)


def _line_printer() -> Callable[[Row], None]:
    """Prints a line when a run starts, ends, or has come another ten steps further."""
    said: dict[str, tuple[str, int]] = {}

    def changed(row: Row) -> None:
        state = (row.phase if row.record or row.phase in ("starting", "interrupted") else "working", row.step // 10)
        if said.get(row.name) != state:
            said[row.name] = state
            click.echo(f"{row.name}: {describe(row)}", err=True)

    return changed


def describe(row: Row) -> str:
    """A row in words."""
    record = row.record
    if record is None:
        return f"{row.phase}, step {row.step}" if row.step else row.phase
    graded = f"score {record.score}{_worth(record)}"
    if record.status == "failed":
        return f"failed: {record.error}{f'; what it had submitted: {graded}' if record.valid else ''}"
    if not record.valid:
        return f"{record.status}, {'no valid submission: ' + record.error if record.error else 'not graded'}"
    return f"{record.status} ({record.ended_by}), {graded}"


def _worth(record: RunRecord) -> str:
    """What a score is worth beside people or the starter code, where that is known."""
    if record.improvement is not None:
        return f", {record.improvement:+.1f} % over the baseline"
    if record.percentile is None and record.medal is None:
        return ""
    return f", {record.medal} medal" if record.medal else ", no medal"


def _summarise(rows: list[Row]) -> None:
    for row in rows:
        click.echo(f"{row.name}: {describe(row)}")


def _complain(rows: list[Row], out: Path) -> None:
    failed = [row for row in rows if row.record and row.record.status == "failed"]
    undone = [row for row in rows if row.record is None or row.record.status == "stopped"]
    if undone:
        raise PodiumError(f"{len(undone)} of {len(rows)} runs are not done. Repeat the command with --out {out}")
    if failed:
        name, log = failed[0].name, failed[0].folder.output
        raise PodiumError(f"{len(failed)} of {len(rows)} runs failed. First, {name}: see {log}. Add --retry to repeat.")


def _grade_curves(driver: Driver) -> None:
    from podium.runs.grading import write_curve

    for row in driver.rows:
        if row.record is not None and row.record.status == "finished":
            write_curve(row.folder, row.task, driver.plan)
