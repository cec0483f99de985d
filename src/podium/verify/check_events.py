"""Event checks: order of the journal's events, monotonic usage and the recorded end."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from podium.runs.records import RunRecord
from podium.sandbox.policy import Policy
from podium.text import plural
from podium.verify.run_evidence import Evidence, parse_time
from podium.workspace.budget import Usage
from podium.workspace.journal.events import End, Fork, Resume, Start, Step

CLOCK_TOLERANCE_S = 1.0
"""Tolerance for clock adjustments during a run, and for the delay between timing and writing an event."""
MONOTONIC_FIELDS = tuple(name for name in Usage.model_fields if name != "working_s")
"""Usage fields that never decrease. Working time may, because waiting is subtracted when it has ended."""
BUDGET_CAUSES = ("working time", "time", "steps", "tokens", "cost")


def order_problems(evidence: Evidence) -> Iterator[str]:
    """Yield problems of the journal's events in their order."""
    events = evidence.events
    for before, after in pairwise(events):
        if isinstance(after, Start):
            yield "the journal starts twice"
        if isinstance(before, End) and not (before.stopped and isinstance(after, Resume)):
            yield "the journal continues after its end"
        if parse_time(after.time) < parse_time(before.time):
            yield "the journal's times run backwards"
        if any(_decreases(getattr(before.usage, name), getattr(after.usage, name)) for name in MONOTONIC_FIELDS):
            yield f"the usage decreases at {after.time}"
        passed = (parse_time(after.time) - parse_time(before.time)).total_seconds()
        if after.usage.wall_s - before.usage.wall_s > passed + CLOCK_TOLERANCE_S:
            yield f"more time was used than elapsed until {after.time}"
    steps, used = sum(isinstance(event, Step) for event in events), events[-1].usage.steps
    # A step that was killed between counting and journalling is repeated and counted again.
    if steps > used or (steps < used and len(evidence.attempts) == 1 and evidence.record.status == "finished"):
        yield f"{steps} steps are in the journal, but {used} were counted"
    if parse_time(events[-1].time) > datetime.now(UTC) + timedelta(days=1):
        yield "the run ends in the future"


def _decreases(before: float | None, after: float | None) -> bool:
    """Return whether usage decreases; an unknown value must stay unknown."""
    return after is not None and (before is None or after < before)


def ending_problems(evidence: Evidence) -> Iterator[str]:
    """Yield contradictions between the record's status, end and times and the journal's last line."""
    record, last = evidence.record, evidence.events[-1]
    if record.status in ("finished", "stopped"):
        if not isinstance(last, End):
            yield f"the status is {record.status}, but the journal has no end"
        elif (record.status == "stopped") != last.stopped:
            ending = "a stop" if last.stopped else "a completed run"
            yield f"the status is {record.status}, but the journal ends with {ending}"
        elif record.ended_by != last.cause:
            yield f"ended_by differs: {record.ended_by} in run.json, {last.cause} in the journal"
        elif last.cause in BUDGET_CAUSES and last.usage.exceeded(evidence.budget) is None:
            yield f"ended_by is {last.cause}, but this budget was not used up"
    elif record.ended_by is not None:
        yield f"the status is {record.status}, but ended_by is {record.ended_by}"
    yield from _time_problems(evidence, record)


def _time_problems(evidence: Evidence, record: RunRecord) -> Iterator[str]:
    times, last = record.times, evidence.events[-1]
    forked = [n for n, event in enumerate(evidence.events) if isinstance(event, Fork)]
    own = evidence.events[forked[-1] + 1 :] if forked else evidence.events
    if times.started is None:
        yield "run.json has no start time"
    elif own and parse_time(times.started) > parse_time(own[0].time):
        yield "the run started after its first event"
    elif forked and parse_time(times.started) < parse_time(evidence.events[forked[-1]].time):
        yield "the run started before it was forked"
    if not record.is_graded:
        if times.ended or times.graded:
            yield "the run has no grade, but an end or grading time"
    elif times.ended != last.time:
        yield f"the end differs: {times.ended} in run.json, {last.time} in the journal"
    elif times.graded is None or parse_time(times.graded) < parse_time(last.time):
        yield "the submission was graded before the run had ended"


def remarks(evidence: Evidence) -> Iterator[str]:
    """Yield remarks that a reader should know before the result."""
    record = evidence.record
    if evidence.start.miniature:
        yield "ran on a fabricated miniature: medal and percentile are meaningless"
    if record.status != "finished":
        yield f"status is {record.status}"
    for fork in evidence.forks:
        yield f"forked from step {fork.source_step} of {fork.source_run}"
    resumes = len(evidence.attempts) - 1
    if resumes:
        yield f"resumed {resumes} times" if resumes > 1 else "resumed once"
    for change in (change for event in evidence.attempts if isinstance(event, Resume) for change in event.changes):
        yield f"{change.name} changed from {change.before} to {change.after} between attempts"
    resumed = [event for event in evidence.attempts if isinstance(event, Resume)]
    if lost := [name for event in resumed for name in event.lost]:
        count = len(lost) + sum(event.more_lost for event in resumed)
        yield f"{plural(count, 'file')} lost when the run was resumed, such as {lost[0]}"
    if (part := evidence.events[-1].usage.exceeded(evidence.budget)) and record.ended_by not in BUDGET_CAUSES:
        yield f"budget exceeded: {part}"
    for attempt in evidence.attempts:
        yield from _weaknesses(attempt.backend, attempt.sandbox)


def _weaknesses(backend: str, sandbox: Policy) -> Iterator[str]:
    """Yield weaknesses compared with a sealed sandbox without a network."""
    if not sandbox.sealed:
        yield f"the sandbox ({backend}) was not sealed: programs could see the whole machine"
    if sandbox.network != "none":
        yield f"the sandbox ({backend}) had network access: {sandbox.network}"
    loose = [name for name, limit in sandbox.limits.items() if limit.value is not None and limit.enforcement == "no"]
    if loose:
        yield f"the sandbox ({backend}) did not enforce limits: {', '.join(loose)}"
