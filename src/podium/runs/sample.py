"""A run as an Inspect sample: Inspect brings models, tools, limits and the `.eval` log; the session does the rest."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial

from anyio import to_thread
from inspect_ai import Task as InspectTask
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import Model, get_model
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import sandbox

from podium.agents import make_agent
from podium.grading.grade import Grade, plain
from podium.runs.experiment import now
from podium.runs.grading import checker, grade_snapshot, graded_place
from podium.runs.performing import Performer
from podium.runs.session import Session, newest
from podium.runs.stage import Stage
from podium.sandbox.environment import adapt, specification
from podium.workspace.layout import VALIDATION_PORT
from podium.workspace.validator import Validator

MODEL_RETRIES = 8
"""With growing pauses, a quarter of an hour; by default Inspect never gives up."""
MEDALS = ("score", "any_medal", "gold", "valid")
"""What a score in the log consists of."""


@dataclass
class Played:
    """What became of an attempt."""

    cause: str = ""
    ended: str = ""
    is_over: bool = False
    validations: int = 0
    grade: Grade | None = None
    """None when a person stopped the run, to continue it later."""


def play(stage: Stage) -> Played:
    """Lets the agent work until the run ends, and grades it then.

    Raises:
        PodiumError, or what the agent raised: the run failed.
    """
    played = Played()
    failures: list[BaseException] = []
    plan = stage.plan
    logs = inspect_eval(
        _task(stage, played, failures),
        model=plan.model,
        model_base_url=plan.model_base_url,
        model_roles={role: _role_model(text) for role, text in plan.model_roles.items()},
        log_dir=str(stage.folder.logs),
        log_format="eval",
        log_realtime=False,
        display="none",
        score_display=False,
        max_subprocesses=os.cpu_count(),
        max_retries=MODEL_RETRIES,
        ctl_server=False,  # a run is steered by its driver alone
    )
    if failures:
        raise failures[0]
    if logs[0].error is not None:
        raise RuntimeError(logs[0].error.message)
    return played


def _role_model(text: str) -> str | Model:
    """A model that has a role, where the plan says it is served."""
    name, mark, rest = text.partition("@http")  # names may hold an @ of their own
    return get_model(name, base_url=f"http{rest}") if mark else text


def _task(stage: Stage, played: Played, failures: list[BaseException]) -> InspectTask:
    @solver
    def podium() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            try:
                await _solve(stage, played)
            except Exception as error:
                failures.append(_cause(error))
                raise
            return state

        return solve

    @scorer(metrics={name: [mean()] for name in MEDALS})
    def medals() -> Scorer:
        async def score(state: TaskState, target: Target) -> Score | None:
            if not played.is_over:
                return None
            snapshot = newest(stage.journal, "snapshot")
            target_path = graded_place(stage.folder, stage.prepared)
            # In a thread: evaluating a program waits for a lease and for the program.
            grade = partial(grade_snapshot, stage.history, snapshot, stage.prepared, stage.plan, target_path)
            try:
                played.grade = await to_thread.run_sync(grade)
            except Exception as error:
                failures.append(error)
                raise
            return as_score(played.grade)

        return score

    sample = Sample(id=stage.task.id, input=stage.instructions, metadata={"seed": stage.seed})
    return InspectTask(
        name="podium",
        dataset=MemoryDataset([sample], name=stage.task.id),
        solver=podium(),
        scorer=medals(),
        sandbox=specification(stage.plan.sandbox, stage.config, stage.folder.workspace, stage.folder.given),
    )


def _cause(error: Exception) -> Exception:
    """What went wrong, without the groups that concurrent tasks wrap it in."""
    while isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


async def _solve(stage: Stage, played: Played) -> None:
    plan = stage.plan
    environment = adapt(sandbox(), plan.sandbox, stage.folder.workspace)
    session = Session(stage.folder, stage.journal, stage.history, plan.budget, report=stage.report, stop=stage.stop)
    agent = make_agent(plan.agent, plan.options, stage.assignment(session.remaining))

    check = checker(stage.prepared)
    limit = stage.prepared.submission_limit
    listener = environment.listen(VALIDATION_PORT)
    validator = None if listener is None else Validator(listener, check, limit_bytes=limit)
    try:
        name = f"{stage.task.id}/{stage.seed}"
        performer = Performer(
            environment,
            plan,
            session,
            agent,
            name=name,
            problem=stage.instructions,
            check=check,
            limit_bytes=limit,
            person=stage.person,
        )
        async with performer.serving():
            end = await session.play(agent, performer.perform)
    finally:
        if validator is not None:
            validator.close()
            played.validations = validator.asked
    await environment.stop()  # nothing of the agent is left when answers are read
    await session.conclude(end)
    played.cause, played.ended, played.is_over = end.cause, now(), not end.stopped


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
