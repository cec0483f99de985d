"""A run as an evaluation of Inspect: it brings models, tools, limits and the `.eval` log; the loop does the rest."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any

import anyio
from anyio import to_thread
from inspect_ai import Task as InspectTask
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import Model, get_model
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import sandbox

from podium.actions import ActionError, Person
from podium.agents import agent_class, make_agent
from podium.agents.base import Agent, Assignment
from podium.agents.model_agent import ModelOptions
from podium.grading.grade import Grade, plain
from podium.inspect_internals import watch_model_calls, without_clients_of_models
from podium.models.call_recorder import CallRecorder
from podium.models.model_requests import ModelAccess, use_access
from podium.models.prices import register_prices
from podium.runs.attempt.action_runner import ActionRunner
from podium.runs.attempt.grade_run import checker, grade_snapshot, graded_place
from podium.runs.attempt.loop import Ending, Loop
from podium.runs.attempt.open_run import RunContext
from podium.runs.versions import versions
from podium.sandbox.inspect_provider import PodiumSandbox, inspect_spec
from podium.workspace.layout import VALIDATION_PORT
from podium.workspace.validation_server import Validator

MODEL_RETRIES = 8
"""With growing pauses, a quarter of an hour; by default Inspect never gives up."""
MakeAgent = Callable[[Assignment], Agent[Any]]
SCORES = ("score", "any_medal", "gold", "valid")
"""What a score in the log consists of."""


@dataclass
class Evaluated:
    """The result of an attempt."""

    ending: Ending | None = None
    """None when it did not come to an end."""
    validations: int = 0
    grade: Grade | None = None
    """None when a person stopped the run, to continue it later."""
    failure: BaseException | None = None


def evaluate_run(context: RunContext, before_grading: Callable[[], None]) -> Evaluated:
    """Lets the agent work until the run ends, and grades it then.

    Args:
        before_grading: is called in between.

    Raises:
        PodiumError, or what the agent raised: the run failed.
    """
    evaluated = Evaluated()
    plan = context.plan
    register_prices(plan.prices)
    with nullcontext() if plan.models else without_clients_of_models():
        logs = inspect_eval(
            _inspect_task(context, evaluated, before_grading),
            model=plan.model,
            model_base_url=plan.model_base_url,
            model_args=plan.provider_settings,
            model_roles={role: _role_model(text) for role, text in plan.model_roles.items()},
            log_dir=str(context.folder.logs),
            log_format="eval",
            log_realtime=False,
            log_model_api=True,  # or else calls cannot be watched
            display="none",
            score_display=False,
            max_subprocesses=os.cpu_count(),
            max_retries=MODEL_RETRIES,
            ctl_server=False,  # a run is steered by its executor alone
        )
    if evaluated.failure is not None:
        raise evaluated.failure
    if logs[0].error is not None:
        raise RuntimeError(logs[0].error.message)
    return evaluated


def _role_model(text: str) -> str | Model:
    """A model that has a role, where the plan says it is served."""
    name, mark, rest = text.partition("@http")  # names may hold an @ of their own
    return get_model(name, base_url=f"http{rest}") if mark else text


def _inspect_task(context: RunContext, evaluated: Evaluated, before_grading: Callable[[], None]) -> InspectTask:
    @solver
    def podium() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            await work_in_sandbox(context, evaluated, sandbox().as_type(PodiumSandbox))
            return state

        return solve

    @scorer(metrics={name: [mean()] for name in SCORES})
    def medals() -> Scorer:
        async def score(state: TaskState, target: Target) -> Score | None:
            await grade_work(context, evaluated, before_grading)
            return None if evaluated.grade is None else as_score(evaluated.grade)

        return score

    task = context.prepared.task
    sample = Sample(id=task.id, input=context.instructions, metadata={"seed": context.seed})
    return InspectTask(
        name="podium",
        dataset=MemoryDataset([sample], name=task.id),
        solver=podium(),
        scorer=medals(),
        sandbox=inspect_spec(context.plan.sandbox, context.spec),
    )


async def work_in_sandbox(
    context: RunContext, evaluated: Evaluated, box: PodiumSandbox, make: MakeAgent | None = None
) -> None:
    """Lets the agent work in an open sandbox, to the last event of the journal; the sandbox is stopped then.

    Args:
        make: makes the agent; by default the one that the plan names.
    """
    plan, folder = context.plan, context.folder
    with _failure_kept(evaluated):
        context.begin(box.sandbox.enforced(), {**versions(), **agent_class(plan.agent).versions()})
        loop = Loop(folder, context.journal, context.history, plan.budget, reporter=context.reporter, stop=context.stop)
        use_access(access := ModelAccess(lambda: loop.remaining().time_s, partial(_tell, context)))
        watch_model_calls((calls := CallRecorder()).note)
        loop.take_notes, loop.take_calls = access.take_notes, calls.take
        make = make or partial(make_agent, plan.agent, plan.options)
        agent = make(context.assignment(loop.remaining))
        if isinstance(agent.options, ModelOptions):
            access.config, access.retries = agent.options.config, agent.options.retries
        runner = ActionRunner(context, box, loop, agent, person=_person(context) if plan.person else None)
        async with _validating(context, box, evaluated), runner.serving():
            ending = await loop.run(agent, runner.perform)
        evaluated.validations += runner.validations
        await box.stop()  # nothing of the agent is left when answers are read
        await loop.conclude(ending)
        evaluated.ending = ending


def _tell(context: RunContext, text: str) -> None:
    context.reporter.update(phase=text)


async def grade_work(context: RunContext, evaluated: Evaluated, before_grading: Callable[[], None]) -> None:
    """Grades what the agent left, unless the run is to be continued."""
    if evaluated.ending is None or evaluated.ending.stopped:
        return
    place = graded_place(context.folder, context.prepared)
    grade = partial(grade_snapshot, context.history, context.journal.snapshot, context.prepared, context.plan, place)
    with _failure_kept(evaluated):
        await to_thread.run_sync(before_grading)
        # In a thread: evaluating a program waits for a lease and for the program.
        evaluated.grade = await to_thread.run_sync(grade)


@contextmanager
def _failure_kept(evaluated: Evaluated) -> Iterator[None]:
    """Keeps what goes wrong for whoever evaluates, without the groups that concurrent tasks wrap it in."""
    try:
        yield
    except Exception as error:
        cause = error
        while isinstance(cause, ExceptionGroup) and len(cause.exceptions) == 1:
            cause = cause.exceptions[0]
        evaluated.failure = cause
        raise


@asynccontextmanager
async def _validating(context: RunContext, box: PodiumSandbox, evaluated: Evaluated) -> AsyncIterator[None]:
    """Answers validations while the block runs, where programs can ask."""
    listener = box.listen(VALIDATION_PORT)
    if listener is None:
        yield
        return
    validator = Validator(listener, checker(context.prepared), limit_bytes=context.prepared.submission_limit)
    try:
        yield
    finally:
        validator.close()
        evaluated.validations += validator.asked


def _person(context: RunContext) -> Person:
    """The person who follows the run."""
    asking = anyio.Lock()  # one question at a time, or answers would be mixed up

    async def ask(request: str) -> str:
        async with asking:
            answer = await to_thread.run_sync(context.reporter.ask, request, abandon_on_cancel=True)
        if answer is None:
            raise ActionError("Nobody answered the request. Go on without help.")
        return answer

    return ask


def as_score(grade: Grade) -> Score:
    """A grade as Inspect shows it."""
    value = {
        "score": 0.0 if grade.score is None else plain(grade.score),
        "any_medal": float(grade.medal is not None),
        "gold": float(grade.medal == "gold"),
        "valid": float(grade.valid),
    }
    medal = f"{grade.medal} medal" if grade.medal else "no medal"
    explanation = f"{medal}, score {grade.score}" if grade.valid else f"invalid: {grade.error}"
    return Score(value=value, explanation=explanation, metadata=grade.to_dict())
