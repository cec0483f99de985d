"""Podium's tasks for users of Inspect: `inspect eval podium/task -T id=spaceship-titanic --solver ... --model ...`."""

from __future__ import annotations

import atexit
import tempfile
from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer
from inspect_ai.solver import Generate, Solver, TaskState, basic_agent, solver
from inspect_ai.tool import bash, python
from inspect_ai.util import SandboxEnvironmentSpec, sandbox

from podium import api
from podium.catalog import resolve
from podium.data.files import link_tree
from podium.data.trees import remove_tree
from podium.errors import NotPreparedError
from podium.runs.grading import checker, grade_snapshot
from podium.runs.record import Plan
from podium.runs.sample import MEDALS, as_score
from podium.sandbox.config import BubblewrapConfig
from podium.sandbox.interpreter import find_interpreter
from podium.sandbox.policy import HOME
from podium.sandbox.provider import BubblewrapSandbox
from podium.task import Edition
from podium.workspace import layout
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
        edition: its edition, v1 or fixed; by default the one the task means.
        miniature: whether a fabricated stand-in may be used where real data is not there.
        data_dir: where the data of tasks lies.
        env: the Python environment inside, by default the one Podium runs in.
        hours: the working time the agent is told it has.
    """
    try:
        prepared = resolve(id, edition=edition, data_dir=_path(data_dir))
    except NotPreparedError:
        if not (miniature or api.load(id).generated):
            raise NotPreparedError(
                f"{id} is not prepared. Run: podium prepare {id}, or add -T miniature=true"
            ) from None
        api.prepare(id, data_dir=data_dir, miniature=miniature, edition=edition)
        prepared = resolve(id, edition=edition, data_dir=_path(data_dir))
    found, place = prepared.task, prepared.place
    means = layout.Means(1, 0, 3600 * hours, None, str(find_interpreter(env).executable))
    given = Path(tempfile.mkdtemp(prefix="podium-given-"))
    atexit.register(remove_tree, given)
    text = layout.instructions(means, found)
    public = place.public
    if found.generated:  # programs can read what their mounts are called on the host, and that name says it all
        public = given / "data"
        link_tree(place.public, public)
    mounts = layout.mounts(Path(HOME), given / "files", public, instructions=text, starter=found.starter)
    brief = (place.public / "description.md").read_text(encoding="utf-8")
    sample = Sample(input=f"{text}\n{PROMPT.format(home=HOME, brief=brief)}", id=1)
    return Task(
        dataset=MemoryDataset([sample], name="podium"),
        setup=open_workspace(id, prepared.edition, data_dir),
        solver=basic_agent(tools=[bash(timeout=3600), python(timeout=3600)], max_attempts=1),
        scorer=medals(id, prepared.edition, data_dir),
        sandbox=SandboxEnvironmentSpec(
            "bubblewrap", BubblewrapConfig(env=None if env is None else Path(env), mounts=tuple(mounts[1:]))
        ),
        working_limit=int(3600 * hours),
    )


def _path(folder: str | None) -> Path | None:
    return None if folder is None else Path(folder)


@solver
def open_workspace(task_id: str, edition: Edition, data_dir: str | None) -> Solver:
    """Lays out the workspace and answers validations until the sandbox stops."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        environment = sandbox().as_type(BubblewrapSandbox)
        prepared = resolve(task_id, edition=edition, data_dir=_path(data_dir))
        layout.lay_out(environment.workspace, starter=prepared.task.starter, agent_files=None)
        Validator(environment.sandbox.listen(layout.VALIDATION_PORT), checker(prepared), limit_bytes=1 << 30)
        return state

    return solve


@scorer(metrics={name: [mean()] for name in MEDALS})
def medals(task_id: str, edition: Edition, data_dir: str | None) -> Scorer:
    """Grades the submission after everything in the sandbox has ended."""

    async def score(state: TaskState, target: Target) -> Score:
        environment = sandbox().as_type(BubblewrapSandbox)
        environment.sandbox.stop()
        prepared = resolve(task_id, edition=edition, data_dir=_path(data_dir))
        with tempfile.TemporaryDirectory(prefix="podium-grade-") as folder:
            path = Path(folder, "submission")
            # Through a snapshot, because that is what never follows a link or waits for a pipe.
            with History(Path(folder, "history.git"), environment.workspace, always=prepared.names) as history:
                commit = history.snapshot("end", None, time_s=0)
                grade = grade_snapshot(history, commit, prepared, Plan(agent="inspect"), path)
        return as_score(grade)

    return score
