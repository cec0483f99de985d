"""Identity check: folder, record, journal and plan must describe the same run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from podium.catalog.registry import load
from podium.errors import PodiumError
from podium.runs.experiment import default_budget
from podium.text import plural
from podium.verify.run_evidence import Evidence, differences, parse_time


def folder_problems(evidence: Evidence) -> Iterator[str]:
    """Compare the folder's name with the record, the journal and the experiment's tasks and seeds."""
    folder, record, experiment = evidence.run.path, evidence.record, evidence.experiment
    named = (folder.parent.name, folder.name)
    for source, said in (
        ("run.json", (record.task, str(record.seed))),
        ("the journal", (evidence.start.task, str(evidence.seed))),
    ):
        if said != named:
            yield f"the folder is named {'/'.join(named)}, but {source} names {'/'.join(said)}"
    if record.task not in experiment.tasks:
        yield f"the task {record.task} is not in experiment.json"
    if not record.seed < experiment.seeds:
        yield f"the seed is {record.seed}, but experiment.json plans {plural(experiment.seeds, 'seed')}"


def plan_problems(evidence: Evidence) -> Iterator[str]:
    """Compare the experiment's plan with the settings in the journal."""
    plan, start, settings = evidence.plan, evidence.start, evidence.settings
    try:
        task = load(start.task).in_edition(plan.edition)
    except PodiumError as error:
        yield f"the task is not available here: {error}"
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
        "gpus": (plan.gpus, len(evidence.attempts[-1].sandbox.gpus)),
        "miniature": (plan.miniature and not task.generated, start.miniature),
    }
    yield from differences(pairs, "experiment.json", "the journal")
    if evidence.attempts[-1].sandbox.network != "none" and evidence.start.sandbox.sealed and not plan.network:
        yield f"experiment.json allows no network, but the sandbox had {evidence.attempts[-1].sandbox.network}"
    for name, limit in evidence.attempts[-1].sandbox.limits.items():
        planned = getattr(plan.limits, name, None)
        if planned is not None and limit.value is not None and limit.value > planned:
            yield f"{name} is limited to {planned} in experiment.json, but the sandbox allowed {limit.value}"
    started = evidence.record.times.started
    if started and parse_time(started) < parse_time(evidence.experiment.document.created):
        yield "the run started before the experiment was created"


def record_problems(evidence: Evidence) -> Iterator[str]:
    """Compare the record with the journal."""
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
