"""`podium resume`: continues an experiment, with the same or another model or budget."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from podium.cli.follow_experiment import executor_from, executor_options, register_options, run_experiment
from podium.cli.options import (
    as_json,
    budget_options,
    data_dir,
    parse_pairs,
    require_extra,
    resolve_env,
    spending_settings,
    task_folders,
)


@click.command(name="resume")
@click.argument("experiment", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--model", metavar="MODEL", help="Continue with another model.")
@click.option("--model-base-url", metavar="URL", help="Continue with a model served at this URL.")
@click.option(
    "--role", "roles", multiple=True, metavar="ROLE=MODEL[@URL]", help="Continue with another model for a role."
)
@click.option("--env", metavar="ENV", help="Continue with another Python environment for the agent.")
@data_dir
@click.option("--trust", is_flag=True, help="Run the plan in DIR although it comes from another machine.")
@budget_options
@executor_options
@register_options
@task_folders
@as_json
def command(experiment: Path, as_json: bool, **options: Any) -> None:
    """Continue an interrupted experiment.

    Finished runs are kept and interrupted runs continue where they stopped; failed runs are repeated with --retry. A
    new model or budget applies to unfinished runs, and experiment.json, the journals and the records state the change.
    A plan from another machine needs --trust, because it can start programs on this one.
    """
    require_extra("run")
    from podium.runs.experiment import read_experiment
    from podium.runs.plan.start_experiment import resume_experiment

    previous = read_experiment(experiment)
    changes: dict[str, Any] = {name: options[name] for name in ("model", "model_base_url") if options[name] is not None}
    changes |= spending_settings(options)
    if options["roles"]:
        changes["model_roles"] = {**previous.plan.model_roles, **parse_pairs(options["roles"], "--role")}
    budget = {name: options[name] for name in ("time_s", "wall_s", "steps", "tokens", "cost")}
    if any(value is not None for value in budget.values()):
        limits = {name: value for name, value in budget.items() if value is not None}
        changes["budget"] = {**previous.plan.budget.model_dump(), **limits}
    if options["data_dir"] is not None:
        changes["data_dir"] = str(Path(options["data_dir"]).absolute())
    if options["env"] is not None:
        changes["env"] = resolve_env(options["env"])
    executor = executor_from(options)
    run_experiment(resume_experiment(previous, changes, trust=options["trust"]), executor, options, as_json=as_json)
