"""`podium resume`: continues an experiment as it was started, or with another model or budget."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from podium.cli.follow_experiment import carry_out, chosen_executor, executor_options, register_options
from podium.cli.options import (
    as_json,
    budget_options,
    data_dir,
    env_place,
    pairs,
    read_spending,
    require_extra,
    task_folders,
)


@click.command(name="resume")
@click.argument("experiment", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--model", help="Go on with another model.")
@click.option("--model-base-url", help="Go on with a model that is served there.")
@click.option(
    "--role", "roles", multiple=True, metavar="ROLE=MODEL[@URL]", help="Go on with another model for one of the roles."
)
@click.option("--env", help="Go on with another Python environment for the agent.")
@data_dir
@click.option("--trust", is_flag=True, help="Carry out the plan in DIR though it was not made on this machine.")
@budget_options
@executor_options
@register_options
@task_folders
@as_json
def command(experiment: Path, as_json: bool, **options: Any) -> None:
    """Continue an experiment.

    Runs that are done are kept, interrupted ones go on where they stopped, failed ones are done again with --retry.
    Another model or budget holds for whatever is not done yet; experiment.json, the journals and the records say so.
    A plan that somebody else made is only carried out with --trust: it says what runs on this machine.
    """
    require_extra("run")
    from podium.runs.experiment import read_experiment
    from podium.runs.plan.start_experiment import resume_experiment

    found = read_experiment(experiment)
    changes: dict[str, Any] = {name: options[name] for name in ("model", "model_base_url") if options[name] is not None}
    changes |= read_spending(options)
    if options["roles"]:
        changes["model_roles"] = {**found.plan.model_roles, **pairs(options["roles"], "--role")}
    budget = {name: options[name] for name in ("time_s", "wall_s", "steps", "tokens", "cost")}
    if any(value is not None for value in budget.values()):
        given = {name: value for name, value in budget.items() if value is not None}
        changes["budget"] = {**found.plan.budget.model_dump(), **given}
    if options["data_dir"] is not None:
        changes["data_dir"] = str(Path(options["data_dir"]).absolute())
    if options["env"] is not None:
        changes["env"] = env_place(options["env"])
    executor = chosen_executor(options)
    carry_out(resume_experiment(found, changes, trust=options["trust"]), executor, options, as_json=as_json)
