"""Agent of an environment: performs the actions passed to `step`."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from inspect_ai.util import suspend_working_limit

from podium.agents.base import Agent, Assignment, Options, State
from podium.workspace.journal.events import Action
from podium.workspace.journal.observations import Observation

FINAL = "final_answer"
HASH_SEEDS = 1 << 32
OnReady = Callable[[Observation | None], None]


class PolicyState(State):
    """State of the agent: whether the policy has given its final answer."""

    done: bool = False


class StepPolicy(Agent[PolicyState]):
    """Performs the actions of another program, step by step (used by podium.Environment)."""

    State = PolicyState

    def __init__(self, assignment: Assignment, options: Options, ready: OnReady = lambda observation: None) -> None:
        """
        Args:
            ready: called in a thread with the last observation when the next action can be given.
        """
        super().__init__(assignment, options)
        self._ready = ready
        self._observed: Observation | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._given: asyncio.Future[Action | None] | None = None

    async def decide(self, state: PolicyState) -> Sequence[Action]:
        if state.done:
            return ()
        with suspend_working_limit():
            self._loop = asyncio.get_running_loop()
            self._given = self._loop.create_future()
            await asyncio.to_thread(self._ready, self._observed)
            action = await self._given
        return () if action is None else (action,)

    def observe(
        self, state: PolicyState, actions: Sequence[Action], observations: Sequence[Observation]
    ) -> PolicyState:
        self._observed = observations[-1]
        return PolicyState(done=any(action.name == FINAL for action in actions))

    def environment(self) -> dict[str, str]:
        """Seed Python's hash function, so that the same actions give the same observations."""
        return {"PYTHONHASHSEED": str(self.assignment.seed % HASH_SEEDS)}

    def give(self, action: Action | None) -> None:
        """Pass the next action from any thread; None ends the episode."""
        if self._loop is None or self._given is None:
            return
        with contextlib.suppress(RuntimeError):  # the loop is closed because the episode has ended
            self._loop.call_soon_threadsafe(self._take, action)

    def _take(self, action: Action | None) -> None:
        if self._given is not None and not self._given.done():
            self._given.set_result(action)


def read_action(given: Action | Mapping[str, Any] | str) -> Action:
    """Convert a policy's output to an action: an `Action`, a mapping, or JSON text of one.

    Other text becomes an unknown action, which costs a step and gives an observation with the error.
    """
    if isinstance(given, Action):
        return given
    try:
        document = json.loads(given) if isinstance(given, str) else given
        return Action(name=str(document["action"]), arguments=document.get("arguments", {}))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return Action(name=str(given)[:200])
