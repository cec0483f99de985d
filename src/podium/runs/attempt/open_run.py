"""Opening a run: lays out its workspace, or restores it to the end of the journal."""

from __future__ import annotations

import itertools
import json
import threading
import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from podium.agents import agent_class, make_agent, read_options
from podium.agents.base import Agent, Assignment, Remaining
from podium.errors import PodiumError
from podium.grading.prepared_task import PreparedTask
from podium.leases.gpus import usable_gpus
from podium.runs.attempt.cross_task_memory import states_on_other_tasks
from podium.runs.attempt.progress_files import Reporter
from podium.runs.records import Plan
from podium.runs.run_folder import RunFolder
from podium.safefs.remove_tree import remove_tree
from podium.sandbox.backend import Capabilities, find_backend
from podium.sandbox.policy import Policy
from podium.sandbox.spec import SandboxSpec
from podium.scoring.held_out_split import HeldOut, NotDivisibleError, set_aside
from podium.workspace import layout
from podium.workspace.budget import Usage
from podium.workspace.history.history import History
from podium.workspace.instructions import Resources, write_instructions
from podium.workspace.journal.events import FORMAT, PlanChange, Resume, Start, now
from podium.workspace.journal.journal import Journal, JournalReader

MAX_LOST_BYTES = 1 << 18
"""Maximum size of the names of lost files in one journal line."""
CHANGEABLE_BETWEEN_ATTEMPTS = ("model", "model_roles", "budget")
"""Plan fields that may differ between the attempts at a run."""


@dataclass(frozen=True)
class RunContext:
    """Everything needed to execute an opened run."""

    folder: RunFolder
    plan: Plan
    """Plan of the experiment, completed by the task's defaults."""
    prepared: PreparedTask
    seed: int
    instructions: str
    spec: SandboxSpec
    journal: Journal
    history: History
    reporter: Reporter
    stop: threading.Event
    held_out: HeldOut | None = None
    """Held-out training rows."""
    lost: tuple[str, ...] = ()
    """Files of the workspace that could not be restored."""

    @property
    def name(self) -> str:
        return f"{self.prepared.task.id}/{self.seed}"

    def assignment(self, remaining: Callable[[], Remaining]) -> Assignment:
        return Assignment(
            task=self.prepared.task,
            seed=self.seed,
            instructions=self.instructions,
            public=self.held_out.public if self.held_out else self.prepared.place.public,
            is_held_out=self.held_out is not None,
            remaining=remaining,
            cores=self.plan.cores,
            gpus=self.plan.gpus,
            env=self.plan.env,
            has_person=self.plan.person,
            experience=partial(states_on_other_tasks, self.folder, self.prepared.task.id, self.plan.agent),
        )

    def begin(self, sandbox: Policy, versions: dict[str, str]) -> None:
        """Journal the beginning of an attempt and the policy that its sandbox enforces."""
        make = self._resume if len(self.journal) else self._start
        self.journal.append(make(sandbox, versions))

    def _start(self, sandbox: Policy, versions: dict[str, str]) -> Start:
        plan = self.plan
        return Start(
            time=now(),
            usage=Usage(),
            format=FORMAT,
            task=self.prepared.task.id,
            edition=self.prepared.edition,
            miniature=self.prepared.miniature,
            data_sha256=self.prepared.data_sha256,
            agent=plan.agent,
            options=plan.options,
            model=plan.model,
            model_roles=plan.model_roles,
            seed=self.seed,
            budget=plan.budget,
            backend=plan.sandbox,
            sandbox=sandbox,
            versions=versions,
            snapshot=self.history.snapshot("start", None, time_s=int(time.time())),
        )

    def _resume(self, sandbox: Policy, versions: dict[str, str]) -> Resume:
        return Resume(
            time=now(),
            usage=self.journal.last.usage,
            lost=(named := shorten_names(self.lost)),
            more_lost=len(self.lost) - len(named),
            changes=plan_changes(self.journal, self.plan),
            backend=self.plan.sandbox,
            sandbox=sandbox,
            versions=versions,
        )


def open_run(
    folder: RunFolder, plan: Plan, prepared: PreparedTask, seed: int, *, reporter: Reporter, stop: threading.Event
) -> RunContext:
    """Open a run with a new workspace, or one restored to the end of the journal."""
    task = prepared.task
    capabilities, spec = find_backend(plan.sandbox).capabilities(), sandbox_spec(plan, workspace=folder.workspace)
    own = agent_class(plan.agent).mounts(read_options(plan.agent, plan.options))
    spec = spec.model_copy(update={"mounts": own})
    text = instructions(plan, prepared, capabilities, spec, shows_time=True)
    history, journal = folder.open_history(prepared.names), folder.open_journal()
    lost: tuple[str, ...] = ()
    agent = make_agent(plan.agent, plan.options, Assignment(task, seed, text, prepared.place.public, Remaining))
    held_out = _hold_out(agent, folder, prepared, seed)
    if len(journal) == 0:
        remove_tree(folder.workspace)
        sample = _valid_sample(prepared) if agent.starts_from_sample else None
        layout.populate_workspace(folder.workspace, starter=task.starter, agent_files=agent.files(), submission=sample)
    else:
        if journal.start.data_sha256 != prepared.data_sha256:
            raise PodiumError(f"The data of {task.id} in {prepared.place.root} has changed since the run began.")
        lost = tuple(history.restore(journal.snapshot).lost)
    remove_tree(folder.given)  # the author of the folder may have put links there
    return RunContext(
        folder=folder,
        plan=plan,
        prepared=prepared,
        seed=seed,
        instructions=text,
        spec=with_mounts(
            spec,
            capabilities,
            prepared,
            text,
            given=folder.given,
            time_s=_time_of(plan),
            public=held_out.public if held_out else None,
        ),
        journal=journal,
        history=history,
        reporter=reporter,
        stop=stop,
        held_out=held_out,
        lost=lost,
    )


def shorten_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return the leading names that fit into a journal line; a single name may be as long as a page."""
    ends = itertools.accumulate(len(json.dumps(name)) for name in names)
    return tuple(name for name, end in zip(names, ends, strict=True) if end <= MAX_LOST_BYTES)


def _hold_out(agent: Agent[Any], folder: RunFolder, prepared: PreparedTask, seed: int) -> HeldOut | None:
    """Hold out the training rows that an agent requires, if the task's data can be split."""
    shares = agent.held_out_shares()
    if shares is None:
        return None
    try:
        return set_aside(folder.held_out, prepared, shares, seed)
    except NotDivisibleError as error:
        remove_tree(folder.held_out)
        if agent.requires_held_out:
            raise PodiumError(
                f"Rows of {prepared.task.id} cannot be held out: {error}. Remove -A evaluation=held-out"
            ) from error
        return None


def _valid_sample(prepared: PreparedTask) -> Path | None:
    """Return the sample submission, if it is valid as it is."""
    if not prepared.task.is_table:
        return None
    sample = prepared.place.public / prepared.task.form.sample
    return sample if sample.suffix == ".csv" and prepared.validate(sample).valid else None


def _time_of(plan: Plan) -> float | None:
    return plan.budget.time_s or plan.budget.wall_s


def instructions(
    plan: Plan, prepared: PreparedTask, capabilities: Capabilities, spec: SandboxSpec, *, shows_time: bool = False
) -> str:
    """Return the instructions for the agent: its workspace and its resources."""
    resources = Resources(
        cores=plan.cores,
        gpus=plan.gpus,
        time_s=_time_of(plan),
        steps=plan.budget.steps,
        shows_time=shows_time,
    )
    return write_instructions(resources, prepared.task, capabilities, spec)


def sandbox_spec(plan: Plan, *, workspace: Path | None) -> SandboxSpec:
    """Return the sandbox specification of a run, still without mounts."""
    return SandboxSpec(
        env=None if plan.env is None else Path(plan.env),
        workspace=workspace,
        network=plan.network,
        limits=plan.limits,
        gpus=_shown_gpus(plan.gpus, workspace),
        pauses_background=True,
    )


def _shown_gpus(count: int, workspace: Path | None) -> tuple[int, ...]:
    """Return the GPUs that a sandbox shows while it is open; concurrent runs are spread over the available GPUs."""
    there = usable_gpus() if count else ()
    if len(there) < count:
        return tuple(range(count))  # leasing then fails with an explanation
    first = zlib.crc32(str(workspace).encode("utf-8", "surrogateescape")) % max(1, len(there))
    return tuple(sorted((there[first:] + there[:first])[:count]))


def with_mounts(
    spec: SandboxSpec,
    capabilities: Capabilities,
    prepared: PreparedTask,
    text: str,
    *,
    given: Path,
    time_s: float | None = None,
    public: Path | None = None,
) -> SandboxSpec:
    """Add the mounts of the agent's files to a sandbox specification.

    Args:
        text: instructions for the agent.
        given: folder for Podium's files that are mounted into the workspace.
        time_s: remaining time, for the file that shows it; None for no such file.
        public: folder shown in place of the task's public folder.
    """
    public = (public or prepared.place.public).resolve()  # a neutral path, visible in /proc
    validates = capabilities.has_own_ports(spec)
    starter = prepared.task.starter
    mounts = layout.mounts(given, public, instructions=text, validates=validates, starter=starter, time_s=time_s)
    return spec.model_copy(update={"mounts": (*mounts, *spec.mounts)})


def plan_changes(journal: JournalReader, plan: Plan) -> tuple[PlanChange, ...]:
    """Return the differences between a plan and the one of the run's last attempt."""
    before: dict[str, Any] = {name: _plain(getattr(journal.start, name)) for name in CHANGEABLE_BETWEEN_ATTEMPTS}
    for event in journal.all_of(Resume):
        before |= {change.name: change.after for change in event.changes}
    after = {name: _plain(getattr(plan, name)) for name in CHANGEABLE_BETWEEN_ATTEMPTS}
    return tuple(
        PlanChange(name=name, before=before[name], after=after[name])
        for name in CHANGEABLE_BETWEEN_ATTEMPTS
        if before[name] != after[name]
    )


def _plain(value: Any) -> Any:
    return value.model_dump(mode="json") if hasattr(value, "model_dump") else value
