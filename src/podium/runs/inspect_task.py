"""Podium's tasks for users of Inspect: `inspect eval podium/task -T id=spaceship-titanic --solver ... --model ...`."""

from __future__ import annotations

import atexit
import tempfile
from pathlib import Path
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer
from inspect_ai.solver import Generate, Solver, TaskState, basic_agent, solver
from inspect_ai.tool import bash, python
from inspect_ai.util import sandbox

from podium.catalog import load
from podium.data.prepare import prepare_task
from podium.data.trees import remove_tree
from podium.errors import NotPreparedError
from podium.grading.prepared import PreparedTask
from podium.runs.context import instructions, sandbox_spec, with_mounts
from podium.runs.grading import checker, grade_snapshot, prepared_task
from podium.runs.inspect_eval import SCORES, as_score
from podium.runs.models import Plan
from podium.sandbox.backend import find_backend
from podium.sandbox.inspect import PodiumSandbox, inspect_spec
from podium.sandbox.spec import HOME
from podium.task import Edition
from podium.workspace import layout
from podium.workspace.budget import Budget
from podium.workspace.history import History
from podium.workspace.validator import Validator

PROMPT = "The task's description, which is also in {home}/data/description.md:\n\n{brief}"


@task(name="task")
def podium_task(
    id: str,  # noqa: A002
    edition: Edition | None = None,
    miniature: bool = False,
    data_dir: str | None = None,
    env: str | None = None,
    hours: float = 24.0,
) -> Task:
    """A task of Podium as an Inspect task, in the bubblewrap sandbox, scored with medals.

    Args:
        id: the task, such as spaceship-titanic or forge-tabular-regression-medium-7.
        edition: its edition, v1 or fixed; by default the task's own.
        miniature: whether a fabricated stand-in is used in place of real data.
        data_dir: where the data of tasks lies.
        env: the Python environment inside, by default the one Podium runs in.
        hours: the working time the agent is told it has.
    """
    data = (edition, data_dir, miniature)
    plan = _plan(*data, env=env, budget=Budget(time_s=3600 * hours))
    prepared = _prepared(id, plan)
    given = Path(tempfile.mkdtemp(prefix="podium-given-"))
    atexit.register(remove_tree, given)
    capabilities, spec = find_backend(plan.sandbox).capabilities(), sandbox_spec(plan, workspace=None)
    text = instructions(plan, prepared, capabilities, spec)
    spec = with_mounts(spec, capabilities, prepared, text, given=given)
    brief = (prepared.place.public / "description.md").read_text(encoding="utf-8")
    sample = Sample(input=f"{text}\n{PROMPT.format(home=HOME, brief=brief)}", id=1)
    return Task(
        dataset=MemoryDataset([sample], name="podium"),
        setup=open_workspace(id, *data),
        solver=basic_agent(tools=[bash(timeout=3600), python(timeout=3600)], max_attempts=1),
        scorer=medals(id, *data),
        sandbox=inspect_spec(plan.sandbox, spec),
        working_limit=int(3600 * hours),
    )


def _plan(edition: Edition | None, data_dir: str | None, miniature: bool, **settings: Any) -> Plan:
    folder = None if data_dir is None else Path(data_dir)
    return Plan(agent="inspect", edition=edition, data_dir=folder, miniature=miniature, **settings)


def _prepared(task_id: str, plan: Plan) -> PreparedTask:
    try:
        return prepared_task(task_id, plan)
    except NotPreparedError as error:
        found = load(task_id)
        if not (plan.miniature or found.generated):
            raise NotPreparedError(f"{error} (for Inspect: -T miniature=true)") from error
        prepare_task(found, data_dir=plan.data_dir, miniature=plan.miniature, edition=plan.edition)
        return prepared_task(task_id, plan)


@solver
def open_workspace(task_id: str, edition: Edition | None, data_dir: str | None, miniature: bool) -> Solver:
    """Lays out the workspace and answers validations until the sandbox stops."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        prepared = prepared_task(task_id, _plan(edition, data_dir, miniature))
        environment = sandbox().as_type(PodiumSandbox).sandbox
        layout.lay_out(environment.workspace, starter=prepared.task.starter, agent_files=None)
        listener = environment.listen(layout.VALIDATION_PORT)
        assert listener is not None  # nobody else is in there
        Validator(listener, checker(prepared), limit_bytes=prepared.submission_limit)
        return state

    return solve


@scorer(metrics={name: [mean()] for name in SCORES})
def medals(task_id: str, edition: Edition | None, data_dir: str | None, miniature: bool) -> Scorer:
    """Grades the submission after everything in the sandbox has ended."""

    async def score(state: TaskState, target: Target) -> Score:
        plan = _plan(edition, data_dir, miniature)
        prepared = prepared_task(task_id, plan)
        environment = sandbox().as_type(PodiumSandbox).sandbox
        environment.stop()
        with (
            tempfile.TemporaryDirectory(prefix="podium-grade-") as folder,
            # Through a snapshot, because that is what never follows a link or waits for a pipe.
            History(Path(folder, "history.git"), environment.workspace, always=prepared.names) as history,
        ):
            commit = history.snapshot("end", None, time_s=0)
            grade = grade_snapshot(history, commit, prepared, plan, Path(folder, "submission"))
        return as_score(grade)

    return score
