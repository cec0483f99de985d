"""Runs as Inspect evaluations: Inspect supplies models, tools, limits and the `.eval` log; the loop does the rest."""

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
from podium.grading.grade import Grade, json_value
from podium.inspect_internals import watch_model_calls, without_model_clients
from podium.models.call_recorder import CallRecorder
from podium.models.model_requests import ModelAccess, set_model_access
from podium.models.prices import register_prices
from podium.runs.attempt.action_runner import ActionRunner
from podium.runs.attempt.grade_run import checker, grade_snapshot, graded_path
from podium.runs.attempt.loop import Ending, Loop
from podium.runs.attempt.open_run import RunContext
from podium.runs.versions import versions
from podium.sandbox.inspect_provider import PodiumSandbox, inspect_spec
from podium.workspace.layout import VALIDATION_PORT
from podium.workspace.validation_server import Validator

MODEL_RETRIES = 8
"""Retries with growing pauses, about 15 minutes in total; by default Inspect never gives up."""
MakeAgent = Callable[[Assignment], Agent[Any]]
SCORES = ("score", "any_medal", "gold", "valid")
"""Components of a score in the log."""


@dataclass
class Evaluated:
    """Result of an attempt."""

    ending: Ending | None = None
    """Reason why the attempt ended; None if it failed."""
    validations: int = 0
    grade: Grade | None = None
    """None if a person stopped the run, to resume it later."""
    failure: BaseException | None = None


def evaluate_run(context: RunContext, before_grading: Callable[[], None]) -> Evaluated:
    """Let the agent work until the run ends, then grade its submission.

    Args:
        before_grading: called in between.

    Raises:
        Exception: the run failed; raises the PodiumError or the agent's own exception.
    """
    evaluated = Evaluated()
    plan = context.plan
    register_prices(plan.prices)
    with nullcontext() if plan.models else without_model_clients():
        logs = inspect_eval(
            _inspect_task(context, evaluated, before_grading),
            model=plan.model,
            model_base_url=plan.model_base_url,
            model_args=plan.provider_settings,
            model_roles={role: _role_model(text) for role, text in plan.model_roles.items()},
            log_dir=str(context.folder.logs),
            log_format="eval",
            log_realtime=False,
            log_model_api=True,  # required to observe model calls
            display="none",
            score_display=False,
            max_subprocesses=os.cpu_count(),
            max_retries=MODEL_RETRIES,
            ctl_server=False,  # runs are controlled by their executor alone
        )
    if evaluated.failure is not None:
        raise evaluated.failure
    if logs[0].error is not None:
        raise RuntimeError(logs[0].error.message)
    return evaluated


def _role_model(text: str) -> str | Model:
    """Return the model of a role, with its base URL from the plan."""
    name, mark, rest = text.partition("@http")  # names may contain an @
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
    """Let the agent work in an open sandbox until the journal is complete, then stop the sandbox.

    Args:
        make: factory of the agent; by default the agent of the plan.
    """
    plan, folder = context.plan, context.folder
    with _failure_kept(evaluated):
        context.begin(box.sandbox.enforced(), {**versions(), **agent_class(plan.agent).versions()})
        loop = Loop(folder, context.journal, context.history, plan.budget, reporter=context.reporter, stop=context.stop)
        set_model_access(access := ModelAccess(lambda: loop.remaining().time_s, partial(_tell, context)))
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
        await box.stop()  # no process of the agent is left when the answers are read
        await loop.conclude(ending)
        evaluated.ending = ending


def _tell(context: RunContext, text: str) -> None:
    context.reporter.update(phase=text)


async def grade_work(context: RunContext, evaluated: Evaluated, before_grading: Callable[[], None]) -> None:
    """Grade the agent's submission, unless the run is to be resumed."""
    if evaluated.ending is None or evaluated.ending.stopped:
        return
    place = graded_path(context.folder, context.prepared)
    grade = partial(grade_snapshot, context.history, context.journal.snapshot, context.prepared, context.plan, place)
    with _failure_kept(evaluated):
        await to_thread.run_sync(before_grading)
        # In a thread, because evaluating a program waits for a lease and for the program.
        evaluated.grade = await to_thread.run_sync(grade)


@contextmanager
def _failure_kept(evaluated: Evaluated) -> Iterator[None]:
    """Store an exception for the caller of the evaluation, unwrapped from the exception groups of task groups."""
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
    """Answer validation requests of programs, where the sandbox allows them."""
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
    """Return the person who follows the run."""
    asking = anyio.Lock()  # one question at a time, so that answers are not mixed up

    async def ask(request: str) -> str:
        async with asking:
            answer = await to_thread.run_sync(context.reporter.ask, request, abandon_on_cancel=True)
        if answer is None:
            raise ActionError("The request was not answered. Continue without help.")
        return answer

    return ask


def as_score(grade: Grade) -> Score:
    """Convert a grade to an Inspect score."""
    value = {
        "score": 0.0 if grade.score is None else json_value(grade.score),
        "any_medal": float(grade.medal is not None),
        "gold": float(grade.medal == "gold"),
        "valid": float(grade.valid),
    }
    medal = f"{grade.medal} medal" if grade.medal else "no medal"
    explanation = f"{medal}, score {grade.score}" if grade.valid else f"invalid: {grade.error}"
    return Score(value=value, explanation=explanation, metadata=grade.to_dict())
