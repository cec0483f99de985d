"""Starts and continues experiments: what `podium run`, `podium resume` and `podium.run` share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from podium.agents import agent_class, check_agent, read_options
from podium.agents.default_agent import check_fit, choose_agent
from podium.catalog import load, load_all
from podium.catalog.prepare_many import PreparedOne, prepare_many
from podium.errors import NotPreparedError, PodiumError, UsageError
from podium.models.prices import price_of
from podium.runs.attempt.grade_run import prepared_task
from podium.runs.experiment import Experiment, change_plan, open_experiment
from podium.runs.plan.preflight import require_models, require_ready
from podium.runs.plan.trusted_plans import is_known_plan, remember_plan, requests
from podium.runs.records import Plan
from podium.sandbox.backend import find_backend
from podium.sandbox.spec import SandboxSpec

CHANGEABLE = (
    *("model", "model_base_url", "model_roles", "prices", "budget", "total_tokens", "total_cost"),
    *("data_dir", "env"),
)
"""Parts of a plan that may be changed in an experiment that was begun."""
SECRETS = ("api_key", "access_key", "session_token", "secret", "password", "credential")
"""What the names of arguments hold that a provider keeps secret; plans are written down and handed on."""


def make_plan(tasks: Sequence[str], *, agent: str | None = None, **settings: Any) -> Plan:
    """A plan for tasks, checked before anything is started.

    Args:
        agent: by default one that suits the tasks.

    Raises:
        UsageError: a setting is unknown, the agent, its options, its models or the Python environment are wrong, or the
            agent cannot work on one of the tasks.
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
    """Refuses what would be written down and have no effect, and what must not be written down."""
    agent = agent_class(plan.agent)
    if plan.model is not None and not (agent.needs_model or agent.serves_model or agent.roles):
        raise UsageError(
            f"The agent '{plan.agent}' uses no model. Leave out --model, or add --agent aide or another that has one: "
            "podium agents"
        )
    options = read_options(plan.agent, plan.options)
    unknown = [role for role in getattr(options, "role_settings", ()) if role not in agent.roles]
    if unknown:
        raise UsageError(f"-A role_settings: there is no role '{unknown[0]}'. The roles are: {', '.join(agent.roles)}")
    given = [name for name, value in (("--model-base-url", plan.model_base_url), ("-M", plan.model_args)) if value]
    if given and plan.model is None:
        raise UsageError(f"{given[0]} says how --model is reached. Add --model, for example --model openai/gpt-4o")
    if secret := [name for name in plan.model_args if any(part in name.lower() for part in SECRETS)]:
        raise UsageError(
            f"-M {secret[0]}: experiment.json would keep it for all to read. Set the environment variable of the "
            "model's provider, such as OPENAI_API_KEY"
        )


def with_prices(plan: Plan) -> Plan:
    """The plan with what its models cost, of all that it was given and all that comes with Podium.

    Raises:
        UsageError: its cost is limited, and the price of a model is not known.
    """
    found = {name: price_of(name, base_url, plan.prices) for name, base_url in plan.models.items()}
    unknown = [name for name, price in found.items() if price is None]
    if unknown and (plan.budget.cost is not None or plan.total_cost is not None):
        raise UsageError(
            f"What {unknown[0]} costs is not known, so that a limit on cost would end nothing. State its price with "
            "--prices FILE, or limit tokens with --tokens"
        )
    return plan.model_copy(update={"prices": {name: price for name, price in found.items() if price is not None}})


def _check(plan: Plan) -> None:
    check_agent(plan.agent, plan.options, has_model=plan.model is not None, roles=plan.model_roles)
    mounts = agent_class(plan.agent).mounts(read_options(plan.agent, plan.options))
    env = None if plan.env is None else Path(plan.env)
    find_backend(plan.sandbox).check(SandboxSpec(env=env, mounts=mounts))


def default_folder(plan: Plan) -> Path:
    """Where an experiment goes when nobody says."""
    agent = plan.agent.rpartition(":")[2]
    return Path("runs", f"{datetime.now().astimezone():%Y%m%d-%H%M%S}-{agent}")


def start_experiment(
    tasks: Sequence[str],
    plan: Plan,
    *,
    seeds: int = 1,
    out: Path | None = None,
    local: bool = True,
    preparing: Callable[[int], Callable[[PreparedOne], None]] | None = None,
) -> Experiment:
    """Prepares what is missing and opens the experiment, ready to be carried out.

    Args:
        tasks: ids.
        local: whether its runs are carried out on this machine, which then has to be able to.
        preparing: is told how many tasks have to be prepared; what it returns, of each that has been.
    """
    out = out or default_folder(plan)
    require_ready(tasks, plan, out, local=local)
    prepare_missing(tasks, plan, preparing=preparing)
    return open_experiment(out, plan, tasks, seeds)


def prepare_missing(
    tasks: Sequence[str],
    plan: Plan,
    *,
    preparing: Callable[[int], Callable[[PreparedOne], None]] | None = None,
) -> None:
    """Makes what costs nothing to make; real competition data is never downloaded behind somebody's back.

    Raises:
        NotPreparedError: data is missing that has to be downloaded.
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
    told = preparing(len(missing)) if preparing else lambda done: None
    for done in prepare_many(missing, miniature=plan.miniature, data_dir=plan.data_dir, edition=plan.edition):
        if done.error:
            raise PodiumError(f"{done.task} could not be prepared: {done.error}")
        told(done)


def resume_experiment(experiment: Experiment, changes: dict[str, Any], *, trust: bool = False) -> Experiment:
    """An experiment to be continued, with other models or budgets if somebody asks for them.

    Args:
        changes: parts of the plan to replace, such as `model` or `budget`.
        trust: whether its plan is carried out though it was not made here.

    Raises:
        UsageError: the plan was not made here, a change would make the runs incomparable with themselves, or the agent
            has no such role.
        PodiumError: another model does not answer.
    """
    if not (trust or is_known_plan(experiment.plan)):
        raise UsageError(
            f"{experiment.folder} was not started here. Its plan asks for: {requests(experiment.plan)}. If you want "
            f"that done on this machine: podium resume {experiment.folder} --trust, with --data-dir, --env and --model "
            "for those of your own"
        )
    remember_plan(experiment.plan)
    wrong = [name for name in changes if name not in CHANGEABLE]
    if wrong:
        raise UsageError(f"{wrong[0]} cannot be changed in an experiment that was begun; only: {', '.join(CHANGEABLE)}")
    plan = with_prices(Plan.model_validate({**experiment.plan.model_dump(), **changes}))
    _check(plan)
    if any(name.startswith("model") for name in changes):
        require_models(plan)
    return change_plan(experiment, {**changes, "prices": plan.prices})
