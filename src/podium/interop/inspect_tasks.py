"""Inspect adapter: tasks (`inspect eval podium/task -T id=spaceship-titanic --model ...`), suites
(`inspect eval-set podium/suite -T name=quick --log-dir logs`) and agents as solvers (`--solver podium/agent`).
"""

from __future__ import annotations

import atexit
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, basic_agent, solver
from inspect_ai.tool import bash, python
from inspect_ai.util import sandbox

from podium.agents import make_agent
from podium.agents.base import Assignment, Remaining
from podium.catalog.registry import expand, load
from podium.data.prepare import prepare_task
from podium.errors import NotPreparedError
from podium.grading.prepared_task import PreparedTask
from podium.runs.attempt.grade_run import checker, grade_snapshot, prepared_task
from podium.runs.attempt.inspect_eval import SCORES, Evaluated, as_score, work_in_sandbox
from podium.runs.attempt.open_run import RunContext, instructions, sandbox_spec, with_mounts
from podium.runs.attempt.progress_files import Reporter
from podium.runs.records import Plan
from podium.runs.run_folder import RunFolder
from podium.safefs.remove_tree import remove_tree
from podium.sandbox.backend import find_backend
from podium.sandbox.inspect_provider import PodiumSandbox, inspect_spec
from podium.sandbox.spec import HOME
from podium.task import Edition
from podium.workspace import layout
from podium.workspace.budget import Budget
from podium.workspace.history.history import History
from podium.workspace.validation_server import Validator

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
    """Create an Inspect task for a task, in the bubblewrap sandbox, scored with medals.

    Args:
        id: the task, such as spaceship-titanic or forge-tabular-regression-medium-7.
        edition: its edition, v1 or fixed; by default the task's own.
        miniature: use a miniature instead of real data.
        data_dir: folder of the tasks' data.
        env: the Python environment in the sandbox, by default the one that runs Podium.
        hours: the working time stated in the agent's instructions.
    """
    return _inspect_task([id], _plan(edition, data_dir, miniature, env=env, budget=Budget(time_s=3600 * hours)))


@task(name="suite")
def podium_suite(
    name: str | list[str],
    edition: Edition | None = None,
    miniature: bool = False,
    data_dir: str | None = None,
    env: str | None = None,
    hours: float = 24.0,
) -> Task:
    """Create an Inspect task for a suite, with one sample per task.

    Args:
        name: the suite, such as quick or mle-bench-lite, or several suites and tasks separated by commas.
        edition: their edition, v1 or fixed; by default each task's own.
        miniature: use miniatures instead of real data.
        data_dir: folder of the tasks' data.
        env: the Python environment in the sandbox, by default the one that runs Podium.
        hours: the working time per task stated in the agent's instructions.
    """
    ids = expand([name] if isinstance(name, str) else name)
    return _inspect_task(ids, _plan(edition, data_dir, miniature, env=env, budget=Budget(time_s=3600 * hours)))


def _inspect_task(ids: Sequence[str], plan: Plan) -> Task:
    given = Path(tempfile.mkdtemp(prefix="podium-given-"))
    atexit.register(remove_tree, given)
    samples = [_sample(task_id, plan, given / str(number)) for number, task_id in enumerate(ids)]
    assert plan.budget.time_s is not None
    return Task(
        dataset=MemoryDataset(samples, name="podium"),
        setup=open_workspace(),
        solver=basic_agent(tools=[bash(timeout=3600), python(timeout=3600)], max_attempts=1),
        scorer=medals(),
        working_limit=int(plan.budget.time_s),
    )


def _sample(task_id: str, plan: Plan, given: Path) -> Sample:
    """Convert a task to a sample; its metadata contains the settings, so that a retry needs nothing else."""
    prepared = _prepared(task_id, plan)
    capabilities, spec = find_backend(plan.sandbox).capabilities(), sandbox_spec(plan, workspace=None)
    text = instructions(plan, prepared, capabilities, spec)
    spec = with_mounts(spec, capabilities, prepared, text, given=given)
    brief = (prepared.place.public / "description.md").read_text(encoding="utf-8")
    return Sample(
        input=f"{text}\n{PROMPT.format(home=HOME, brief=brief)}",
        id=task_id,
        metadata={"task": task_id, "plan": plan.model_dump(mode="json")},
        sandbox=inspect_spec(plan.sandbox, spec),
    )


def _of(state: TaskState) -> tuple[PreparedTask, Plan]:
    """Return the task and the plan of a sample."""
    plan = Plan.model_validate(state.metadata["plan"])
    return prepared_task(state.metadata["task"], plan), plan


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
def open_workspace() -> Solver:
    """Lay out the workspace and answer validations until the sandbox stops."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        prepared, _ = _of(state)
        environment = sandbox().as_type(PodiumSandbox).sandbox
        layout.populate_workspace(environment.workspace, starter=prepared.task.starter, agent_files=None)
        listener = environment.listen(layout.VALIDATION_PORT)
        assert listener is not None  # no other program runs in the sandbox yet
        Validator(listener, checker(prepared), limit_bytes=prepared.submission_limit)
        return state

    return solve


@solver
def agent(name: str = "recipes", **options: str) -> Solver:
    """Run one of Podium's agents as a solver: `--solver podium/agent -S name=aide -S drafts=3`.

    Args:
        name: the agent (list them with `podium agents`).
        options: options of the agent.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        prepared, plan = _of(state)
        plan = plan.model_copy(update={"agent": name, "options": {key: str(text) for key, text in options.items()}})
        box = sandbox().as_type(PodiumSandbox)
        with tempfile.TemporaryDirectory(prefix="podium-solver-") as folder:
            await _work(RunFolder(Path(folder, "task", "0")), plan, prepared, state, box)
        return state

    return solve


async def _work(run: RunFolder, plan: Plan, prepared: PreparedTask, state: TaskState, box: PodiumSandbox) -> None:
    """Let an agent work in a sample's sandbox; the sample's log is kept instead of the journal."""
    run.make()
    workspace = box.sandbox.workspace
    assignment = Assignment(prepared.task, 0, state.input_text, prepared.place.public, Remaining)
    files = make_agent(plan.agent, plan.options, assignment).files()
    layout.populate_workspace(workspace, starter=None, agent_files=files)
    with (
        History(run.history, workspace, always=prepared.names) as history,
        run.open_journal() as journal,
        Reporter(run) as reporter,
    ):
        context = RunContext(
            folder=run,
            plan=plan,
            prepared=prepared,
            seed=0,
            instructions=state.input_text,
            spec=sandbox_spec(plan, workspace=workspace),
            journal=journal,
            history=history,
            reporter=reporter,
            stop=threading.Event(),
        )
        await work_in_sandbox(context, Evaluated(), box)


@scorer(metrics={name: [mean(), stderr()] for name in SCORES})
def medals() -> Scorer:
    """Grade the submission after the sandbox has stopped."""

    async def score(state: TaskState, target: Target) -> Score:
        prepared, plan = _of(state)
        environment = sandbox().as_type(PodiumSandbox).sandbox
        environment.stop()
        with (
            tempfile.TemporaryDirectory(prefix="podium-grade-") as folder,
            # Through a snapshot, which never follows a link or blocks on a pipe.
            History(Path(folder, "history"), environment.workspace, always=prepared.names) as history,
        ):
            commit = history.snapshot("end", None, time_s=0)
            grade = grade_snapshot(history, commit, prepared, plan, Path(folder, "submission"))
        return as_score(grade)

    return score
