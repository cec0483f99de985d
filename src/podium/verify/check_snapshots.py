"""Whether the snapshots and texts that a journal names are there, and are what it says."""

from __future__ import annotations

from collections.abc import Iterator

from podium.errors import RecordError
from podium.verify.run_evidence import Evidence
from podium.workspace.history.history import History
from podium.workspace.journal.events import (
    CUT_CHARACTERS,
    INLINE_CALLS,
    Step,
    whole_action,
    whole_calls,
    whole_observation,
)


def snapshot_problems(history: History, evidence: Evidence) -> Iterator[str]:
    """Every snapshot, that the last has those of the journal before it and no others, and that none comes after it."""
    snapshots = [event.snapshot for event in evidence.events if hasattr(event, "snapshot")]
    problems = history.check(snapshots[-1])
    if problems:
        yield from problems
        return
    chain = history.chain(snapshots[-1])
    held, named = set(chain), set(snapshots)
    yield from (f"{commit} is not part of the history" for commit in snapshots if commit not in held)
    yield from (f"{commit} is not named by the journal" for commit in chain if commit not in named)
    yield from _later_problems(history, snapshots[-1], evidence.record.status)


def _later_problems(history: History, last: str, status: str) -> Iterator[str]:
    """Whether the journal was cut back: the history then goes on where it ends."""
    head = history.head()
    if status == "running" or head == last:
        return
    # What fails may do so between a snapshot and its line.
    if status != "failed" or head is None or last not in history.chain(head)[:2]:
        yield f"the history ends with {head}, the journal with {last}"


def text_problems(history: History, evidence: Evidence) -> Iterator[str]:
    """Actions, observations, calls of models and states that are kept beside the journal."""
    steps = [event for event in evidence.events if isinstance(event, Step)]
    for number, step in enumerate(steps, 1):
        try:
            history.get(step.state)
            action, observation = whole_action(step, history.get), whole_observation(step, history.get)
            calls = whole_calls(step, history.get)
        except RecordError as error:
            yield f"step {number}: {error}"
            continue
        if step.action not in (action, action.shortened(CUT_CHARACTERS)):
            yield f"step {number}: its action is not the one that is kept whole"
        if step.observation not in (observation, observation.shortened(CUT_CHARACTERS)):
            yield f"step {number}: its observation is not the one that is kept whole"
        if step.calls not in (calls, calls[:INLINE_CALLS]):
            yield f"step {number}: its calls of models are not those that are kept"
