"""Opens a run: lays out its workspace, or brings it back to where the journal ends."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from podium.actions import Person
from podium.agents import agent_class, read_options
from podium.agents.base import Assignment, Remaining
from podium.data.files import link_tree
from podium.data.trees import remove_tree
from podium.grading.prepared import PreparedTask
from podium.runs.experiment import now
from podium.runs.grading import prepared_task
from podium.runs.record import Plan, RunFolder, RunRecord, Used
from podium.runs.session import newest
from podium.sandbox.config import BubblewrapConfig
from podium.sandbox.interpreter import find_interpreter
from podium.sandbox.policy import HOME
from podium.task import Task
from podium.workspace import layout
from podium.workspace.history import History
from podium.workspace.journal import Journal

Report = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Stage:
    """Everything a run needs once it is opened."""

    folder: RunFolder
    plan: Plan
    prepared: PreparedTask
    seed: int
    instructions: str
    config: BubblewrapConfig
    journal: Journal
    history: History
    report: Report
    stop: threading.Event
    person: Person | None = None
    """Who answers requests for help."""

    @property
    def task(self) -> Task:
        return self.prepared.task

    def assignment(self, remaining: Callable[[], Remaining]) -> Assignment:
        return Assignment(
            task=self.task,
            seed=self.seed,
            instructions=self.instructions,
            public=self.prepared.place.public,
            remaining=remaining,
            has_model=self.plan.model is not None,
            cores=self.plan.cores,
            gpus=self.plan.gpus,
            env=self.plan.env,
            has_person=self.person is not None,
        )


def set_stage(
    folder: RunFolder,
    plan: Plan,
    record: RunRecord,
    *,
    report: Report,
    stop: threading.Event,
    person: Person | None = None,
) -> Stage:
    """A run that is ready to be played, for the first time or once more.

    Raises:
        NotPreparedError: the task's data is not there.
    """
    prepared = prepared_task(record.task, plan)
    task, place = prepared.task, prepared.place
    text = layout.instructions(
        layout.Means(
            cores=plan.cores,
            gpus=plan.gpus,
            time_s=plan.budget.time_s or plan.budget.wall_s,
            steps=plan.budget.steps,
            python=str(find_interpreter(plan.env).executable),
        ),
        task,
        home=str(folder.workspace.absolute()) if plan.sandbox == "none" else HOME,
    )
    folder.workspace.mkdir(parents=True, exist_ok=True)
    public = _unnamed(place.public, folder.data) if task.generated else place.public
    mounts = layout.mounts(folder.workspace, folder.given, public, instructions=text, starter=task.starter)
    config = BubblewrapConfig(
        env=None if plan.env is None else Path(plan.env),
        workspace=folder.workspace,
        mounts=tuple(mounts[1:]),
        network=plan.network,
        limits=plan.limits,
        gpus=tuple(range(plan.gpus)),
    )
    history = History(folder.history, folder.workspace, always=prepared.names)
    journal = Journal.open(folder.journal)
    stage = Stage(folder, plan, prepared, record.seed, text, config, journal, history, report, stop, person)
    if len(journal) == 0:
        _open(stage, record.model_copy(update={"miniature": prepared.miniature}))
    else:
        _resume(stage)
    return stage


def _unnamed(public: Path, target: Path) -> Path:
    """The public data at a place whose name does not tell the task."""
    if not target.exists():
        aside = target.with_name(f".{target.name}")
        remove_tree(aside)
        link_tree(public, aside)
        aside.rename(target)
    return target


def _open(stage: Stage, record: RunRecord) -> None:
    """Lays out the workspace and writes the journal's first line, which says what the run is and may use."""
    plan, task = stage.plan, stage.task
    agent = agent_class(plan.agent)(stage.assignment(Remaining), read_options(plan.agent, plan.options))
    layout.lay_out(stage.folder.workspace, starter=task.starter, agent_files=agent.files())
    policy = stage.config.policy(stage.folder.workspace)
    stage.journal.append(
        {
            "kind": "start",
            "time": now(),
            "task": task.id,
            "edition": plan.edition,
            "miniature": record.miniature,
            "agent": plan.agent,
            "options": plan.options,
            "model": plan.model,
            "seed": stage.seed,
            "budget": plan.budget.model_dump(),
            "data": {"manifest_sha256": stage.prepared.manifest_sha256},
            "sandbox": {"provider": plan.sandbox, **policy.model_dump(mode="json")},
            "versions": record.versions,
            "snapshot": stage.history.snapshot("start", None, time_s=int(time.time())),
            "used": Used().model_dump(),
        }
    )


def _resume(stage: Stage) -> None:
    """Brings the workspace back to where the journal ends, and says so in it."""
    restored = stage.history.restore(newest(stage.journal, "snapshot"))
    facts = {"lost": list(restored.lost), "used": newest(stage.journal, "used")}
    stage.journal.append({"kind": "resume", "time": now(), **facts})
