"""Whether the snapshots and texts that a journal names are there, and are what it says."""

from __future__ import annotations

from collections.abc import Iterator

from podium.errors import RecordError
from podium.runs.verify.evidence import Evidence
from podium.workspace.events import CUT_CHARACTERS, Event, Step, whole_action, whole_observation
from podium.workspace.history import History


def snapshot_problems(history: History, events: list[Event]) -> Iterator[str]:
    """Every snapshot, and that each is an ancestor of the last."""
    snapshots = [event.snapshot for event in events if hasattr(event, "snapshot")]
    problems = history.check(snapshots[-1])
    yield from problems
    ancestors = set(history.chain(snapshots[-1])) if not problems else set(snapshots)
    yield from (f"{commit} is not part of the history" for commit in snapshots if commit not in ancestors)


def text_problems(history: History, evidence: Evidence) -> Iterator[str]:
    """Actions, observations and states that are kept beside the journal."""
    steps = [event for event in evidence.events if isinstance(event, Step)]
    for number, step in enumerate(steps, 1):
        try:
            history.get(step.state)
            action, observation = whole_action(step, history.get), whole_observation(step, history.get)
        except RecordError as error:
            yield f"step {number}: {error}"
            continue
        if step.action not in (action, action.shortened(CUT_CHARACTERS)):
            yield f"step {number}: its action is not the one that is kept whole"
        if step.observation not in (observation, observation.shortened(CUT_CHARACTERS)):
            yield f"step {number}: its observation is not the one that is kept whole"
