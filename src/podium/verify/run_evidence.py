"""Evidence of a run: its record, journal and plan, read once without following links."""

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
    """Record, journal and plan of a run."""

    run: RunFolder
    record: RunRecord
    journal: JournalReader
    events: list[Event]
    start: Start
    experiment: Experiment

    @cached_property
    def attempts(self) -> list[Start | Resume]:
        """Return the first event of each attempt, in order."""
        return [event for event in self.events if isinstance(event, Start | Resume)]

    @property
    def forks(self) -> list[Fork]:
        return [event for event in self.events if isinstance(event, Fork)]

    @property
    def seed(self) -> int:
        """Return the seed in the journal; a fork has its own."""
        return self.forks[-1].seed if self.forks else self.start.seed

    @cached_property
    def settings(self) -> dict[str, Any]:
        """Return the model, roles and budget of the last attempt according to the journal."""
        said = self.start.model_dump(mode="json", include={"model", "model_roles", "budget"})
        for event in self.attempts:
            if isinstance(event, Resume):
                said |= {change.name: change.after for change in event.changes if change.name in said}
        return said

    @cached_property
    def budget(self) -> Budget:
        """Return the budget of the last attempt."""
        with _explain_invalid("the budget in the journal is invalid"):
            return Budget.model_validate(self.settings["budget"])

    @cached_property
    def plan(self) -> Plan:
        """Return the plan at the beginning of the last attempt, without later changes."""
        return plan_at(self.experiment.document, self.attempts[-1].time)


def read_evidence(run: RunFolder) -> Evidence:
    """Read the evidence in a run's folder.

    Raises:
        RecordError: a file is missing, damaged or a link.
    """
    run.check()
    record = run.read_record()
    if record is None:
        raise RecordError("run.json is missing")
    journal = run.read_journal()
    if journal.torn:
        raise RecordError(f"the last line of the journal is incomplete: {journal.torn.reason}")
    odd = [task for task in (record.task, journal.start.task) if not TASK_ID.fullmatch(task)]
    if odd:
        raise RecordError(f"the task id is invalid: {odd[0][:80]!r}")
    return Evidence(run, record, journal, list(journal), journal.start, read_experiment(run.experiment))


def plan_at(document: ExperimentDocument, time: str) -> Plan:
    """Return the plan of an experiment at a given time."""
    plan = document.plan.model_dump(mode="json")
    for change in reversed(document.changes):
        if parse_time(change.time) > parse_time(time):
            name, _, rest = change.name.partition(".")
            target = plan.get(name) if rest else plan
            if not isinstance(target, dict):
                raise RecordError(f"experiment.json contains a change of the unknown setting {change.name:.40}")
            target[rest or name] = change.before
            if rest and change.before is None and name in ("options", "model_roles"):
                del target[rest]
    with _explain_invalid("the changes in experiment.json are invalid"):
        return Plan.model_validate(plan)


@contextmanager
def _explain_invalid(problem: str) -> Iterator[None]:
    try:
        yield
    except ValidationError as error:
        raise RecordError(f"{problem}: {error.errors(include_url=False)[0]['msg']}") from error


def parse_time(time: str) -> datetime:
    """Parse a time of a journal or a record.

    Raises:
        RecordError: the text is not a time with a time zone.
    """
    try:
        found = datetime.fromisoformat(time)
    except ValueError as error:
        raise RecordError(f"'{time:.40}' is not a time") from error
    if found.tzinfo is None:
        raise RecordError(f"'{time:.40}' has no time zone")
    return found


def differences(pairs: dict[str, tuple[Any, Any]], first: str, second: str) -> Iterator[str]:
    """Yield the values that differ between two sources."""
    for name, (one, other) in pairs.items():
        if one != other:
            yield f"{name} differs: {_short(one)} in {first}, {_short(other)} in {second}"


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 80 else f"{text[:79]}…"


def scored_steps(evidence: Evidence) -> list[Step]:
    """Return the steps with held-out scores; none for a fork, which may mix the rows of two seeds."""
    steps = [event for event in evidence.events if isinstance(event, Step) and held_out_scores(event) != (None, None)]
    return [] if evidence.forks else steps


def held_out_scores(step: Step) -> tuple[float | None, float | None]:
    """Return the scores of a script on the rows held out for the search and for the final selection."""
    seen = step.observation
    return (seen.search_score, seen.selection_score) if isinstance(seen, ScriptResult) else (None, None)
