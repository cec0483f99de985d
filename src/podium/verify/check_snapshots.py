"""Snapshot check: the snapshots and texts named by a journal must exist and match it."""

from __future__ import annotations

from collections.abc import Iterator

from podium.errors import RecordError
from podium.verify.run_evidence import Evidence
from podium.workspace.history.history import History
from podium.workspace.journal.events import (
    CUT_CHARACTERS,
    MAX_INLINE_CALLS,
    Step,
    read_all_calls,
    read_full_action,
    read_full_observation,
)


def snapshot_problems(history: History, evidence: Evidence) -> Iterator[str]:
    """Check all snapshots: the last must have exactly the journal's snapshots as ancestors and no successor."""
    snapshots = [event.snapshot for event in evidence.events if hasattr(event, "snapshot")]
    problems = history.check(snapshots[-1])
    if problems:
        yield from problems
        return
    chain = history.chain(snapshots[-1])
    held, named = set(chain), set(snapshots)
    yield from (f"{commit} is not part of the history" for commit in snapshots if commit not in held)
    yield from (f"{commit} is not in the journal" for commit in chain if commit not in named)
    yield from _later_problems(history, snapshots[-1], evidence.record.status)


def _later_problems(history: History, last: str, status: str) -> Iterator[str]:
    """Yield a problem if the history continues beyond the journal, as after truncating the journal."""
    head = history.head()
    if status == "running" or head == last:
        return
    # A failing run may fail between a snapshot and its journal line.
    if status != "failed" or head is None or last not in history.chain(head)[:2]:
        yield f"the history ends with {head}, but the journal with {last}"


def text_problems(history: History, evidence: Evidence) -> Iterator[str]:
    """Check the actions, observations, model calls and states stored beside the journal."""
    steps = [event for event in evidence.events if isinstance(event, Step)]
    for number, step in enumerate(steps, 1):
        try:
            history.get(step.state)
            action, observation = read_full_action(step, history.get), read_full_observation(step, history.get)
            calls = read_all_calls(step, history.get)
        except RecordError as error:
            yield f"step {number}: {error}"
            continue
        if step.action not in (action, action.shortened(CUT_CHARACTERS)):
            yield f"step {number}: its action does not match the complete one in the history"
        if step.observation not in (observation, observation.shortened(CUT_CHARACTERS)):
            yield f"step {number}: its observation does not match the complete one in the history"
        if step.calls not in (calls, calls[:MAX_INLINE_CALLS]):
            yield f"step {number}: its model calls do not match the complete ones in the history"
