"""`podium run`: runs an agent on tasks, several runs at a time, and continues interrupted experiments."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from podium.cli.follow_experiment import executor_from, executor_options, register_options, run_experiment
from podium.cli.machines.completion import complete_agent, complete_task_or_suite
from podium.cli.options import (
    HOSTS,
    SIZE,
    as_json,
    budget_options,
    data_dir,
    edition,
    parse_pairs,
    print_json,
    require_extra,
    resolve_env,
    spending_settings,
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
    metavar="NAME",
    help="Agent to run; list them with podium agents.  [default: one that suits the task and needs no model]",
)
@click.option("-A", "options", multiple=True, metavar="NAME=VALUE", help="Set an option of the agent. Repeatable.")
@click.option("--model", metavar="MODEL", help="Model of the agent, in Inspect's notation, such as openai/gpt-4o.")
@click.option("--model-base-url", metavar="URL", help="URL that serves the model.  [default: the provider's]")
@click.option(
    "-M", "model_args", multiple=True, metavar="NAME=VALUE", help="Set an argument of the model provider. Repeatable."
)
@click.option(
    "--role", "roles", multiple=True, metavar="ROLE=MODEL[@URL]", help="Model for a role of the agent. Repeatable."
)
@click.option(
    "--seeds", metavar="N", type=click.IntRange(1), default=1, show_default=True, help="Number of runs per task."
)
@budget_options
@executor_options
@register_options
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the experiment.  [default: a new one below runs]",
)
@click.option("--miniature", is_flag=True, help="Use fabricated data instead of real data.")
@click.option(
    "--obfuscate",
    is_flag=True,
    help="Rename files, columns, ids and categories and omit the story, so that models cannot recognise tasks.",
)
@click.option(
    "--sandbox",
    default="bubblewrap",
    show_default=True,
    metavar="BACKEND",
    help="Sandbox backend: bubblewrap, docker, none, or an installed one.",
)
@click.option(
    "--network",
    type=HOSTS,
    is_flag=False,
    flag_value="all",
    default="none",
    metavar="[HOST,...]",
    help="Allow Internet access, or access to these hosts only.  [default: no network]",
)
@click.option(
    "--env",
    metavar="ENV",
    help="Python environment of the agent: a folder, or cpu or gpu (see podium env).  [default: Podium's own]",
)
@click.option(
    "--memory", "memory_bytes", type=SIZE, help="Memory per run, such as 8G.  [default: 7/8 of the machine's memory]"
)
@click.option(
    "--disk",
    "disk_bytes",
    type=SIZE,
    help="Disk space per run, such as 50G.  [default: 100G]",
)
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
@click.option("--goal", metavar="TEXT", help="Goal for a folder with code, which is given in place of a task.")
@click.option("--script", default="train.py", show_default=True, metavar="FILE", help="With --goal: script to run.")
@click.option(
    "--editable",
    multiple=True,
    metavar="PATTERN",
    help="With --goal: files that the agent may change. Repeatable.  [default: all]",
)
@click.option("--score", metavar="NAME", help="With --goal: score that the script prints as 'NAME: NUMBER'.")
@click.option("--lower", is_flag=True, help="With --score: lower is better.")
@click.option(
    "--answers",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="With --goal: CSV file with the answers, ids first, to grade submission.csv with.",
)
@click.option("--metric", metavar="NAME", help="With --answers: metric, such as rmse or accuracy.")
@click.option("--dry-run", is_flag=True, help="Check all prerequisites, estimate the cost, and start nothing.")
@click.option("--person", is_flag=True, help="Let agents ask you for help on this terminal.")
@data_dir
@edition
@task_folders
@as_json
def command(names: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Run an agent on tasks and grade what it submits.

    Repeat the command to continue an interrupted experiment.
    """
    require_extra("run")
    from podium.catalog.obfuscation.obfuscate import obfuscated_id
    from podium.catalog.registry import expand
    from podium.cli.progress_bars import preparation_progress
    from podium.runs.plan.start_experiment import start_experiment

    tasks = [_folder_task(names, options)] if options["goal"] else expand(_no_folders(names, options))
    if options["obfuscate"]:
        tasks = [obfuscated_id(name) for name in tasks]
    plan = _plan(tasks, options)
    local = options["on"] == "local"
    if options["dry_run"]:
        _dry_run(tasks, plan, options, local=local, as_json=as_json)
        return
    executor = executor_from(options)
    with preparation_progress() as preparing:
        experiment = start_experiment(
            tasks, plan, seeds=options["seeds"], out=options["out"], local=local, preparing=preparing
        )
    run_experiment(experiment, executor, options, as_json=as_json)


def _dry_run(tasks: list[str], plan: Plan, options: dict[str, Any], *, local: bool, as_json: bool) -> None:
    """Print the plan and its estimated cost, or raise an error with all problems; write nothing."""
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
    click.echo("All checks passed, and nothing was started. Omit --dry-run to start.")


def _plan(tasks: list[str], options: dict[str, Any]) -> Plan:
    """Return the plan that the options describe, validated before anything starts."""
    from podium.runs.plan.start_experiment import make_plan
    from podium.sandbox.spec import Limits

    limits = {name: options[name] for name in ("memory_bytes", "disk_bytes") if options[name] is not None}
    same = ("agent", "model", "model_base_url", "edition", "sandbox", "network", "cores", "gpus", "person", "miniature")
    return make_plan(
        tasks,
        **{name: options[name] for name in same},
        options=parse_pairs(options["options"], "-A"),
        model_roles=parse_pairs(options["roles"], "--role"),
        model_args=parse_pairs(options["model_args"], "-M"),
        budget={name: options[name] for name in ("time_s", "wall_s", "steps", "tokens", "cost")},
        env=resolve_env(options["env"]),
        limits=Limits(**limits),
        **spending_settings(options),
        data_dir=None if options["data_dir"] is None else options["data_dir"].absolute(),
    )


def _folder_task(names: tuple[str, ...], options: dict[str, Any]) -> str:
    """Register a task made from a folder and a goal, and return its id."""
    from podium.catalog.authoring.code_folder import FolderTaskSpec, register

    folder = Path(names[0])
    if len(names) > 1 or not folder.is_dir():
        raise UsageError(f"--goal requires exactly one folder with code; {' '.join(names)} is not one.")
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
    """Return the names of tasks and suites; raise an error for a folder, which needs --goal."""
    from podium.catalog.registry import find_listing, suites
    from podium.catalog.task_files import RESERVED

    for name in names:
        is_task = name in suites() or name.startswith(RESERVED) or find_listing(name) is not None
        if Path(name).is_dir() and not is_task:
            raise UsageError(f"{name} is a folder. Add a goal and a score: --goal TEXT --score NAME")
    goal_options = [f"--{name}" for name in ("score", "answers", "metric", "lower", "editable") if options[name]]
    if goal_options:
        raise UsageError(f"{goal_options[0]} requires --goal, which makes a task from a folder with code.")
    return list(names)
