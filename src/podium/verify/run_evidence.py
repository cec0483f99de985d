"""What a run's folder says of itself, read once, without following links."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from pydantic import ValidationError

from podium.errors import RecordError
from podium.runs.experiment import TASK_ID, Experiment, read_experiment
from podium.runs.records import ExperimentDocument, Plan, RunRecord
from podium.runs.run_folder import RunFolder
from podium.workspace.budget import Budget
from podium.workspace.journal.events import Event, Fork, Resume, Start, Step
from podium.workspace.journal.journal import JournalReader
from podium.workspace.journal.observations import ScriptResult


@dataclass(frozen=True)
class Evidence:
    """The record, the journal and the plan of a run."""

    run: RunFolder
    record: RunRecord
    journal: JournalReader
    events: list[Event]
    start: Start
    experiment: Experiment

    @cached_property
    def attempts(self) -> list[Start | Resume]:
        """What the processes that worked on the run said of themselves, in order."""
        return [event for event in self.events if isinstance(event, Start | Resume)]

    @property
    def forks(self) -> list[Fork]:
        return [event for event in self.events if isinstance(event, Fork)]

    @property
    def seed(self) -> int:
        """As the journal says: that of a fork is its own."""
        return self.forks[-1].seed if self.forks else self.start.seed

    @cached_property
    def settings(self) -> dict[str, Any]:
        """Model, roles and budget that the last attempt worked under, as the journal says."""
        said = self.start.model_dump(mode="json", include={"model", "model_roles", "budget"})
        for event in self.attempts:
            if isinstance(event, Resume):
                said |= {change.name: change.after for change in event.changes if change.name in said}
        return said

    @cached_property
    def budget(self) -> Budget:
        """What the last attempt was allowed to use."""
        with _refused("the budget in the journal"):
            return Budget.model_validate(self.settings["budget"])

    @cached_property
    def plan(self) -> Plan:
        """The plan that held when the last attempt began: what was changed later is undone."""
        return plan_at(self.experiment.document, self.attempts[-1].time)


def read_evidence(run: RunFolder) -> Evidence:
    """What a run's folder says.

    Raises:
        RecordError: something is missing, damaged, or a link.
    """
    run.check()
    record = run.read_record()
    if record is None:
        raise RecordError("run.json is missing")
    journal = run.read_journal()
    if journal.torn:
        raise RecordError(f"the last line of the journal is not whole: {journal.torn.reason}")
    odd = [task for task in (record.task, journal.start.task) if not TASK_ID.fullmatch(task)]
    if odd:
        raise RecordError(f"it is of a task that cannot exist: {odd[0][:80]!r}")
    return Evidence(run, record, journal, list(journal), journal.start, read_experiment(run.experiment))


def plan_at(document: ExperimentDocument, time: str) -> Plan:
    """The plan of an experiment as it was at some time."""
    plan = document.plan.model_dump(mode="json")
    for change in reversed(document.changes):
        if moment(change.time) > moment(time):
            name, _, rest = change.name.partition(".")
            target = plan.get(name) if rest else plan
            if not isinstance(target, dict):
                raise RecordError(f"experiment.json says that {change.name:.40} was changed, which no plan has")
            target[rest or name] = change.before
            if rest and change.before is None and name in ("options", "model_roles"):
                del target[rest]
    with _refused("the changes in experiment.json"):
        return Plan.model_validate(plan)


@contextmanager
def _refused(what: str) -> Iterator[None]:
    try:
        yield
    except ValidationError as error:
        raise RecordError(f"{what} cannot be: {error.errors(include_url=False)[0]['msg']}") from error


def moment(time: str) -> datetime:
    """A time of a journal or a record.

    Raises:
        RecordError: it is not one.
    """
    try:
        found = datetime.fromisoformat(time)
    except ValueError as error:
        raise RecordError(f"'{time:.40}' is not a time") from error
    if found.tzinfo is None:
        raise RecordError(f"'{time:.40}' has no time zone")
    return found


def differences(pairs: dict[str, tuple[Any, Any]], first: str, second: str) -> Iterator[str]:
    """What two sources say differently, by name."""
    for name, (said, found) in pairs.items():
        if said != found:
            yield f"{first} says {name} {_short(said)}, {second} {_short(found)}"


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 80 else f"{text[:79]}…"


def scored_steps(evidence: Evidence) -> list[Step]:
    """Those whose scripts have scores on rows set aside; of a fork none, as it may have the rows of two seeds."""
    steps = [event for event in evidence.events if isinstance(event, Step) and scores_set_aside(event) != (None, None)]
    return [] if evidence.forks else steps


def scores_set_aside(step: Step) -> tuple[float | None, float | None]:
    """The scores of a script on the rows that were set aside for the search and for the final choice."""
    seen = step.observation
    return (seen.search_score, seen.selection_score) if isinstance(seen, ScriptResult) else (None, None)
