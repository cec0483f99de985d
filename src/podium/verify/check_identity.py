"""Whether folder, record, journal and plan speak of the same run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from podium.catalog import load
from podium.errors import PodiumError
from podium.runs.experiment import default_budget
from podium.verify.run_evidence import Evidence, differences, moment


def folder_problems(evidence: Evidence) -> Iterator[str]:
    """The name of the folder against the record, the journal and the tasks and seeds of the experiment."""
    folder, record, experiment = evidence.run.path, evidence.record, evidence.experiment
    named = (folder.parent.name, folder.name)
    for source, said in (
        ("run.json", (record.task, str(record.seed))),
        ("the journal", (evidence.start.task, str(evidence.seed))),
    ):
        if said != named:
            yield f"the folder is named {'/'.join(named)}, but {source} is of {'/'.join(said)}"
    if record.task not in experiment.tasks:
        yield f"experiment.json does not plan the task {record.task}"
    if not record.seed < experiment.seeds:
        yield f"experiment.json plans {experiment.seeds} seeds, this is seed {record.seed}"


def plan_problems(evidence: Evidence) -> Iterator[str]:
    """The plan of the experiment against what the journal says that the run was given."""
    plan, start, settings = evidence.plan, evidence.start, evidence.settings
    try:
        task = load(start.task).in_edition(plan.edition)
    except PodiumError as error:
        yield f"the task cannot be found here: {error}"
        return
    budget = default_budget(plan, task)
    pairs = {
        "agent": (plan.agent, start.agent),
        "options": (plan.options, start.options),
        "model": (plan.model, settings["model"]),
        "model_roles": (plan.model_roles, settings["model_roles"]),
        "budget": (budget, evidence.budget),
        "edition": (task.edition, start.edition),
        "sandbox": (plan.sandbox, evidence.attempts[-1].backend),
        "GPUs": (plan.gpus, len(evidence.attempts[-1].sandbox.gpus)),
        "miniature": (plan.miniature and not task.generated, start.miniature),
    }
    yield from differences(pairs, "experiment.json", "the journal")
    if evidence.attempts[-1].sandbox.network != "none" and evidence.start.sandbox.sealed and not plan.network:
        yield f"experiment.json grants no network, the sandbox had {evidence.attempts[-1].sandbox.network}"
    for name, limit in evidence.attempts[-1].sandbox.limits.items():
        planned = getattr(plan.limits, name, None)
        if planned is not None and limit.value is not None and limit.value > planned:
            yield f"experiment.json says {name} {planned}, the sandbox allowed {limit.value}"
    started = evidence.record.times.started
    if started and moment(started) < moment(evidence.experiment.document.created):
        yield "the run started before the experiment was created"


def record_problems(evidence: Evidence) -> Iterator[str]:
    """The record against the journal."""
    record, start, last = evidence.record, evidence.start, evidence.attempts[-1]
    pairs: dict[str, tuple[Any, Any]] = {
        "agent": (record.agent, start.agent),
        "model": (record.model, evidence.settings["model"]),
        "edition": (record.edition, start.edition),
    }
    if record.status != "running":
        changes = tuple(change for event in evidence.attempts[1:] for change in getattr(event, "changes", ()))
        pairs |= {
            "journal_head": (record.journal_head, evidence.journal.head),
            "usage": (record.usage, evidence.events[-1].usage),
            "backend": (record.backend, start.backend),
            "sandbox": (record.sandbox, start.sandbox),
            "changes": (record.changes, changes),
        }
    if record.status in ("finished", "stopped"):
        pairs |= {"miniature": (record.miniature, start.miniature), "versions": (record.versions, last.versions)}
    yield from differences(pairs, "run.json", "the journal")
