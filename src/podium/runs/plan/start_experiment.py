"""Starting and resuming experiments, shared by `podium run`, `podium resume` and `podium.run`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from podium.agents import agent_class, check_agent, read_options
from podium.agents.default_agent import check_fit, choose_agent
from podium.catalog.prepare_many import PrepareOutcome, prepare_many
from podium.catalog.registry import load, load_all
from podium.errors import NotPreparedError, PodiumError, UsageError
from podium.models.prices import price_of
from podium.runs.attempt.grade_run import prepared_task
from podium.runs.experiment import Experiment, change_plan, open_experiment
from podium.runs.plan.preflight import require_models, require_ready
from podium.runs.plan.trusted_plans import host_settings, is_known_plan, remember_plan
from podium.runs.records import Plan
from podium.sandbox.backend import find_backend
from podium.sandbox.spec import SandboxSpec

CHANGEABLE = (
    *("model", "model_base_url", "model_roles", "prices", "budget", "total_tokens", "total_cost"),
    *("data_dir", "env"),
)
"""Plan fields that may be changed when an experiment is resumed."""
SECRET_NAME_PARTS = ("api_key", "access_key", "session_token", "secret", "password", "credential")
"""Substrings of provider argument names that contain secrets, which must not be stored in a plan."""


def make_plan(tasks: Sequence[str], *, agent: str | None = None, **settings: Any) -> Plan:
    """Create a plan for tasks and check it.

    Args:
        agent: name of the agent; by default one that suits the tasks.

    Raises:
        UsageError: a setting is unknown; the agent, its options, its models or the Python environment are invalid; or
        the agent does not support one of the tasks.
    """
    unknown = [name for name in settings if name not in Plan.model_fields]
    if unknown:
        raise UsageError(f"There is no setting '{unknown[0]}'. The settings are: {', '.join(Plan.model_fields)}")
    found = load_all(tasks, settings.get("edition"))
    plan = Plan.model_validate({**settings, "agent": agent or choose_agent(found)})
    _check_models(plan)
    plan = with_prices(plan)
    _check(plan)
    check_fit(plan.agent, found)
    return plan


def _check_models(plan: Plan) -> None:
    """Refuse model settings that would have no effect, and secrets that would be stored in the plan."""
    agent = agent_class(plan.agent)
    if plan.model is not None and not (agent.needs_model or agent.serves_model or agent.roles):
        raise UsageError(
            f"The agent '{plan.agent}' uses no model. Remove --model, or choose an agent that uses one, such as "
            "--agent aide (list them with: podium agents)"
        )
    options = read_options(plan.agent, plan.options)
    unknown = [role for role in getattr(options, "role_settings", ()) if role not in agent.roles]
    if unknown:
        raise UsageError(f"-A role_settings: there is no role '{unknown[0]}'. The roles are: {', '.join(agent.roles)}")
    given = [name for name, value in (("--model-base-url", plan.model_base_url), ("-M", plan.model_args)) if value]
    if given and plan.model is None:
        raise UsageError(f"{given[0]} requires a model. Add --model, for example --model openai/gpt-4o")
    if secret := [name for name in plan.model_args if any(part in name.lower() for part in SECRET_NAME_PARTS)]:
        raise UsageError(
            f"-M {secret[0]}: experiment.json would store this secret in plain text. Set the environment variable of "
            "the model's provider instead, such as OPENAI_API_KEY"
        )


def with_prices(plan: Plan) -> Plan:
    """Add the prices of the plan's models, from the plan itself or from Podium's price list.

    Raises:
        UsageError: cost is limited, and the price of a model is unknown.
    """
    found = {name: price_of(name, base_url, plan.prices) for name, base_url in plan.models.items()}
    unknown = [name for name, price in found.items() if price is None]
    if unknown and (plan.budget.cost is not None or plan.total_cost is not None):
        raise UsageError(
            f"The price of {unknown[0]} is unknown, so a cost limit would have no effect. Add its price with "
            "--prices FILE, or limit tokens with --tokens"
        )
    return plan.model_copy(update={"prices": {name: price for name, price in found.items() if price is not None}})


def _check(plan: Plan) -> None:
    check_agent(plan.agent, plan.options, has_model=plan.model is not None, roles=plan.model_roles)
    mounts = agent_class(plan.agent).mounts(read_options(plan.agent, plan.options))
    env = None if plan.env is None else Path(plan.env)
    find_backend(plan.sandbox).check(SandboxSpec(env=env, mounts=mounts))


def default_folder(plan: Plan) -> Path:
    """Return the default folder of an experiment."""
    agent = plan.agent.rpartition(":")[2]
    return Path("runs", f"{datetime.now().astimezone():%Y%m%d-%H%M%S}-{agent}")


def start_experiment(
    tasks: Sequence[str],
    plan: Plan,
    *,
    seeds: int = 1,
    out: Path | None = None,
    local: bool = True,
    preparing: Callable[[int], Callable[[PrepareOutcome], None]] | None = None,
) -> Experiment:
    """Prepare missing data and open the experiment, ready to run.

    Args:
        tasks: task ids.
        local: the runs execute on this machine, whose resources are checked.
        preparing: called with the number of tasks to prepare; returns a callback for each prepared task.
    """
    out = out or default_folder(plan)
    require_ready(tasks, plan, out, local=local)
    prepare_missing(tasks, plan, preparing=preparing)
    return open_experiment(out, plan, tasks, seeds)


def prepare_missing(
    tasks: Sequence[str],
    plan: Plan,
    *,
    preparing: Callable[[int], Callable[[PrepareOutcome], None]] | None = None,
) -> None:
    """Prepare generated data and miniatures; real competition data is never downloaded implicitly.

    Raises:
        NotPreparedError: data that must be downloaded is missing.
    """
    missing = []
    for task_id in tasks:
        try:
            prepared_task(task_id, plan)
        except NotPreparedError:
            if not (plan.miniature or load(task_id).generated):
                raise
            missing.append(task_id)
    if not missing:
        return
    notify = preparing(len(missing)) if preparing else lambda done: None
    for done in prepare_many(missing, miniature=plan.miniature, data_dir=plan.data_dir, edition=plan.edition):
        if done.error:
            raise PodiumError(f"{done.task} could not be prepared: {done.error}")
        notify(done)


def resume_experiment(experiment: Experiment, changes: dict[str, Any], *, trust: bool = False) -> Experiment:
    """Return an experiment ready to resume, with changed models or budgets if requested.

    Args:
        changes: new values by plan field, such as `model` or `budget`.
        trust: accept a plan that was not made on this machine.

    Raises:
        UsageError: the plan was not made on this machine, a changed setting would make the run's attempts
        incomparable, or the agent has no such role.
        PodiumError: a changed model does not respond.
    """
    if not (trust or is_known_plan(experiment.plan)):
        raise UsageError(
            f"{experiment.folder} was not started on this machine. Its plan uses: {host_settings(experiment.plan)}. To "
            f"run it here anyway: podium resume {experiment.folder} --trust (--data-dir, --env and --model replace its "
            "settings with yours)"
        )
    remember_plan(experiment.plan)
    wrong = [name for name in changes if name not in CHANGEABLE]
    if wrong:
        raise UsageError(f"{wrong[0]} cannot be changed after the start. These settings can: {', '.join(CHANGEABLE)}")
    plan = with_prices(Plan.model_validate({**experiment.plan.model_dump(), **changes}))
    _check(plan)
    if any(name.startswith("model") for name in changes):
        require_models(plan)
    return change_plan(experiment, {**changes, "prices": plan.prices})
