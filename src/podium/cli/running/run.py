"""`podium run`: lets an agent work on tasks, many runs at a time, and continues what was interrupted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from podium.cli.follow_experiment import carry_out, chosen_executor, executor_options, register_options
from podium.cli.machines.completion import complete_agent, complete_task_or_suite
from podium.cli.options import (
    HOSTS,
    SIZE,
    as_json,
    budget_options,
    data_dir,
    edition,
    env_place,
    pairs,
    print_json,
    read_spending,
    require_extra,
    task_folders,
)
from podium.errors import UsageError
from podium.text import miniature_warning

if TYPE_CHECKING:
    from podium.runs.records import Plan


@click.command(name="run")
@click.argument("names", metavar="TASK|SUITE...", nargs=-1, required=True, shell_complete=complete_task_or_suite)
@click.option(
    "--agent",
    shell_complete=complete_agent,
    help="Who does it; see: podium agents.  [default: one that suits and needs no model]",
)
@click.option("-A", "options", multiple=True, metavar="NAME=VALUE", help="An option of the agent. Repeatable.")
@click.option("--model", help="The model the agent uses, as Inspect names it: openai/gpt-4o, ...")
@click.option("--model-base-url", help="Where the model is served, if not where its maker serves it.")
@click.option(
    "-M", "model_args", multiple=True, metavar="NAME=VALUE", help="An argument of the model's provider. Repeatable."
)
@click.option(
    "--role", "roles", multiple=True, metavar="ROLE=MODEL[@URL]", help="A model for one of the agent's roles."
)
@click.option("--seeds", type=click.IntRange(1), default=1, show_default=True, help="Runs of each task.")
@budget_options
@executor_options
@register_options
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="The experiment's folder.")
@click.option("--miniature", is_flag=True, help="Use fabricated stand-ins in place of real data.")
@click.option(
    "--obfuscate",
    is_flag=True,
    help="Hide what models may know tasks by: other names of files, columns, ids and categories, and no story.",
)
@click.option(
    "--sandbox",
    default="bubblewrap",
    show_default=True,
    help="Backend: bubblewrap, docker, none, or one that is installed.",
)
@click.option(
    "--network",
    type=HOSTS,
    is_flag=False,
    flag_value="all",
    default="none",
    metavar="[HOST,...]",
    help="Let programs use the Internet, or only these hosts.  [default: no network]",
)
@click.option(
    "--env", help="The agent's Python environment: its folder, or cpu or gpu (see podium env).  [default: Podium's own]"
)
@click.option(
    "--memory", "memory_bytes", type=SIZE, help="Memory per run, such as 8G.  [default: 7/8 of the machine's]"
)
@click.option(
    "--disk",
    "disk_bytes",
    type=SIZE,
    help="Disk space per run, such as 50G.  [default: 100G]",
)
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
@click.option("--dry-run", is_flag=True, help="Check everything, say what it would take, and start nothing.")
@click.option("--person", is_flag=True, help="Agents may ask you for help, on this terminal.")
@data_dir
@edition
@task_folders
@as_json
def command(names: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Run an agent on tasks and grade what it submits.

    Repeat the command to continue an interrupted experiment.
    """
    require_extra("run")
    from podium.catalog import expand
    from podium.catalog.obfuscation.obfuscate import obfuscated_id
    from podium.cli.progress_bars import told_of_preparing
    from podium.runs.plan.start_experiment import start_experiment

    tasks = [_folder_task(names, options)] if options["goal"] else expand(_no_folders(names, options))
    if options["obfuscate"]:
        tasks = [obfuscated_id(name) for name in tasks]
    plan = _plan(tasks, options)
    local = options["on"] == "local"
    if options["dry_run"]:
        _dry_run(tasks, plan, options, local=local, as_json=as_json)
        return
    executor = chosen_executor(options)
    with told_of_preparing() as preparing:
        experiment = start_experiment(
            tasks, plan, seeds=options["seeds"], out=options["out"], local=local, preparing=preparing
        )
    carry_out(experiment, executor, options, as_json=as_json)


def _dry_run(tasks: list[str], plan: Plan, options: dict[str, Any], *, local: bool, as_json: bool) -> None:
    """Says what would be done and what it may take, or what is in the way; writes nothing."""
    from podium.runs.plan.forecast import make_forecast
    from podium.runs.plan.preflight import require_ready
    from podium.runs.plan.start_experiment import default_folder

    out = options["out"] or default_folder(plan)
    require_ready(tasks, plan, out, local=local)
    forecast = make_forecast(tasks, plan, options["seeds"], options["parallel"], local=local)
    if as_json:
        print_json({"out": str(out), **vars(forecast)})
        return
    if plan.miniature:
        click.echo(miniature_warning(1, 1))
    for line in (*forecast.lines(), f"out     {out}"):
        click.echo(line)
    click.echo("Everything is ready. Nothing was started: leave out --dry-run to start.")


def _plan(tasks: list[str], options: dict[str, Any]) -> Plan:
    """The plan the options describe, checked before anything is started."""
    from podium.runs.plan.start_experiment import make_plan
    from podium.sandbox.spec import Limits

    limits = {name: options[name] for name in ("memory_bytes", "disk_bytes") if options[name] is not None}
    same = ("agent", "model", "model_base_url", "edition", "sandbox", "network", "cores", "gpus", "person", "miniature")
    return make_plan(
        tasks,
        **{name: options[name] for name in same},
        options=pairs(options["options"], "-A"),
        model_roles=pairs(options["roles"], "--role"),
        model_args=pairs(options["model_args"], "-M"),
        budget={name: options[name] for name in ("time_s", "wall_s", "steps", "tokens", "cost")},
        env=env_place(options["env"]),
        limits=Limits(**limits),
        **read_spending(options),
        data_dir=None if options["data_dir"] is None else options["data_dir"].absolute(),
    )


def _folder_task(names: tuple[str, ...], options: dict[str, Any]) -> str:
    """The id of the task that a folder and a goal make."""
    from podium.catalog.authoring.code_folder import FolderTaskSpec, register

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


def _no_folders(names: tuple[str, ...], options: dict[str, Any]) -> list[str]:
    """The names of tasks and suites; a folder with code is none, and only --goal makes a task of it."""
    from podium.catalog import find_listing, suites
    from podium.catalog.task_files import RESERVED

    for name in names:
        is_task = name in suites() or name.startswith(RESERVED) or find_listing(name) is not None
        if Path(name).is_dir() and not is_task:
            raise UsageError(f"{name} is a folder. Say what to do in it: --goal TEXT --score NAME")
    given = [f"--{name}" for name in ("score", "answers", "metric", "lower", "editable") if options[name]]
    if given:
        raise UsageError(f"{given[0]} goes with --goal, which makes a task of a folder with code.")
    return list(names)
