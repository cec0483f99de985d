"""Whether a run went as a run goes: its events in order, its usage growing, its end as the record tells it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from podium.runs.records import RunRecord
from podium.sandbox.policy import Policy
from podium.verify.run_evidence import Evidence, moment
from podium.workspace.budget import Usage
from podium.workspace.journal.events import End, Fork, Resume, Start, Step

CLOCK_S = 1.0
"""Clocks are set while runs go on, and events are written a moment after they are timed."""
GROWING = tuple(name for name in Usage.model_fields if name != "working_s")
"""Working time may shrink: waiting is taken off when it has ended."""
BUDGET_CAUSES = ("working time", "time", "steps", "tokens", "cost")


def order_problems(evidence: Evidence) -> Iterator[str]:
    """The events of the journal, one after the other."""
    events = evidence.events
    for before, after in pairwise(events):
        if isinstance(after, Start):
            yield "the journal starts twice"
        if isinstance(before, End) and not (before.stopped and isinstance(after, Resume)):
            yield "something happened after the end"
        if moment(after.time) < moment(before.time):
            yield "the journal's times run backwards"
        if any(_shrinks(getattr(before.usage, name), getattr(after.usage, name)) for name in GROWING):
            yield f"the usage shrinks at {after.time}"
        passed = (moment(after.time) - moment(before.time)).total_seconds()
        if after.usage.wall_s - before.usage.wall_s > passed + CLOCK_S:
            yield f"more time was used than passed at {after.time}"
    steps, used = sum(isinstance(event, Step) for event in events), events[-1].usage.steps
    # A step that was counted, but killed before it was journalled, is done and counted again.
    if steps > used or (steps < used and len(evidence.attempts) == 1 and evidence.record.status == "finished"):
        yield f"{steps} steps are journalled, {used} were counted"
    if moment(events[-1].time) > datetime.now(UTC) + timedelta(days=1):
        yield "the run lies in the future"


def _shrinks(before: float | None, after: float | None) -> bool:
    """Whether less was used later; what is not known once is never known again."""
    return after is not None and (before is None or after < before)


def ending_problems(evidence: Evidence) -> Iterator[str]:
    """Status, cause of the end and times of the record, against the journal's last line."""
    record, last = evidence.record, evidence.events[-1]
    if record.status in ("finished", "stopped"):
        if not isinstance(last, End):
            yield f"the run counts as {record.status}, but its journal has no end"
        elif (record.status == "stopped") != last.stopped:
            yield f"the run counts as {record.status}, but its journal says it was {'stopped' * last.stopped or 'done'}"
        elif record.ended_by != last.cause:
            yield f"run.json says it was ended by {record.ended_by}, the journal {last.cause}"
        elif last.cause in BUDGET_CAUSES and last.usage.exceeded(evidence.budget) is None:
            yield f"the run ended because of its {last.cause}, but its budget was not used up"
    elif record.ended_by is not None:
        yield f"a run that counts as {record.status} was ended by {record.ended_by}"
    yield from _time_problems(evidence, record)


def _time_problems(evidence: Evidence, record: RunRecord) -> Iterator[str]:
    times, last = record.times, evidence.events[-1]
    forked = [n for n, event in enumerate(evidence.events) if isinstance(event, Fork)]
    own = evidence.events[forked[-1] + 1 :] if forked else evidence.events
    if times.started is None:
        yield "run.json does not say when the run started"
    elif own and moment(times.started) > moment(own[0].time):
        yield "the run started after its first event"
    elif forked and moment(times.started) < moment(evidence.events[forked[-1]].time):
        yield "the run started before it was forked"
    if not record.is_graded:
        if times.ended or times.graded:
            yield "a run without a grade says when it was graded"
    elif times.ended != last.time:
        yield f"run.json says it ended at {times.ended}, the journal at {last.time}"
    elif times.graded is None or moment(times.graded) < moment(last.time):
        yield "the submission was graded before the run had ended"


def remarks(evidence: Evidence) -> Iterator[str]:
    """What a reader should know before the result."""
    record = evidence.record
    if evidence.start.miniature:
        yield "on a fabricated miniature: its medal and percentile mean nothing"
    if record.status != "finished":
        yield f"counts as {record.status}"
    for fork in evidence.forks:
        yield f"forked from step {fork.source_step} of {fork.source_run}"
    resumes = len(evidence.attempts) - 1
    if resumes:
        yield f"resumed {resumes} times" if resumes > 1 else "resumed once"
    for change in (change for event in evidence.attempts if isinstance(event, Resume) for change in event.changes):
        yield f"{change.name} changed on the way from {change.before} to {change.after}"
    resumed = [event for event in evidence.attempts if isinstance(event, Resume)]
    if lost := [name for event in resumed for name in event.lost]:
        count = len(lost) + sum(event.more_lost for event in resumed)
        yield f"{count} files were lost when it was resumed, such as {lost[0]}"
    if (part := evidence.events[-1].usage.exceeded(evidence.budget)) and record.ended_by not in BUDGET_CAUSES:
        yield f"more than its budget was used: {part}"
    for attempt in evidence.attempts:
        yield from _weaknesses(attempt.backend, attempt.sandbox)


def _weaknesses(backend: str, sandbox: Policy) -> Iterator[str]:
    """Where a sandbox is weaker than a sealed one without a network."""
    if not sandbox.sealed:
        yield f"sandbox {backend}: not sealed, programs could see the whole machine"
    if sandbox.network != "none":
        yield f"sandbox {backend}: network {sandbox.network}"
    loose = [name for name, limit in sandbox.limits.items() if limit.value is not None and limit.enforcement == "no"]
    if loose:
        yield f"sandbox {backend}: not enforced: {', '.join(loose)}"
