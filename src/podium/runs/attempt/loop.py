"""The loop of a run: decide, perform, record, from the first step to the last, across interruptions.

The order of events makes kill -9 harmless. An agent's decision is written to `decision.json`; its outcome is written
to the journal after the workspace was snapshotted and before the agent observes it. So a resumed run finds either a
pending decision or all its observations, and continues from there; journalled steps are never repeated.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import anyio
from anyio import to_thread
from inspect_ai.util import LimitExceededError, cost_limit, token_limit

from podium.agents.base import Agent, Remaining, State
from podium.runs.attempt.progress_files import Reporter
from podium.runs.attempt.usage_meter import Meter
from podium.runs.records import Decision
from podium.runs.run_folder import MAX_DECISION_BYTES, RunFolder
from podium.workspace.budget import Budget
from podium.workspace.history.history import History
from podium.workspace.journal.events import (
    Action,
    End,
    ModelCall,
    Snapshot,
    Step,
    now,
    read_full_action,
    read_full_observation,
    shorten,
    shorten_calls,
)
from podium.workspace.journal.journal import Journal
from podium.workspace.journal.observations import Interruption, Observation
from podium.workspace.layout import write_remaining

WATCH_INTERVAL_S = 0.5
SNAPSHOT_INTERVAL_S = 300.0
LIMITS = {"token": "tokens", "cost": "cost"}
"""Parts of a budget, by the name of Inspect's limit."""

Perform = Callable[[Action], Awaitable[Observation]]


@dataclass(frozen=True)
class Ending:
    """Reason why an attempt ended."""

    cause: str
    stopped: bool = False
    """True if a person stopped the run, so that it can be resumed."""


class Loop:
    """Performs an agent's decisions. Created inside the Inspect sample whose budget it enforces."""

    def __init__(
        self,
        folder: RunFolder,
        journal: Journal,
        history: History,
        budget: Budget,
        *,
        reporter: Reporter,
        stop: threading.Event,
    ) -> None:
        """
        Args:
            reporter: receives the live status of the run.
            stop: event that makes the current step the last.
        """
        self._folder, self._journal, self._history, self._budget = folder, journal, history, budget
        self._reporter, self._stop = reporter, stop
        self._writing = anyio.Lock()
        self._ending: Ending | None = None
        self._snapshot = journal.snapshot
        self._steps = journal.all_of(Step)
        self.meter = Meter(journal.last.usage)
        self.take_notes: Callable[[], tuple[str, ...]] = tuple
        """Returns notes for the journal since the last step."""
        self.take_calls: Callable[[], tuple[ModelCall, ...]] = tuple
        """Returns the model calls since the last step."""

    def remaining(self) -> Remaining:
        """Return the remaining budget."""
        used, budget = self.meter.usage(), self._budget
        times = [
            limit - spent
            for limit, spent in ((budget.time_s, used.working_s), (budget.wall_s, used.wall_s))
            if limit is not None
        ]
        return Remaining(
            time_s=max(0.0, min(times)) if times else None,
            steps=None if budget.steps is None else max(0, budget.steps - used.steps),
            tokens=None if budget.tokens is None else max(0, budget.tokens - used.tokens),
        )

    async def run(self, agent: Agent[Any], perform: Perform) -> Ending:
        """Let the agent work until it is done, its budget is used up or a person stops the run."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._watch_budget, group.cancel_scope)
            decision, state = self._recover(agent)
            while decision is not None or (ending := self._over()) is None:
                if decision is None:
                    self._reporter.update(phase="thinking", headline=agent.headline(state))
                    try:
                        with self._model_limits():
                            actions = await agent.decide(state)
                    except LimitExceededError as error:
                        ending = Ending(LIMITS[error.type])
                        break
                    if not actions:
                        ending = self._stopped() or Ending("the agent")
                        break
                    decision = self._keep(state, actions)
                observations = await self._perform_all(decision, perform)
                state = agent.observe(state, decision.actions, observations)
                decision = None
            self._ending = self._ending or ending
            group.cancel_scope.cancel()
        assert self._ending is not None  # set here, or by the task that cancelled the group
        return self._ending

    async def conclude(self, ending: Ending) -> None:
        """Write the last event. The sandbox must have stopped: this snapshot is the one that is graded."""
        self._snapshot = await to_thread.run_sync(partial(self._take_snapshot, "end", thorough=True))
        end = End(
            time=now(),
            usage=self.meter.usage(),
            cause=ending.cause,
            stopped=ending.stopped,
            snapshot=self._snapshot,
        )
        self._journal.append(end)

    def _recover(self, agent: Agent[Any]) -> tuple[Decision | None, Any]:
        """Return the pending decision, if any, and the agent's state at the end of the journal."""
        decision = self._folder.read(self._folder.decision, Decision, max_bytes=MAX_DECISION_BYTES)
        if decision is not None and self._is_pending(decision):
            return decision, self._load_state(agent, decision.state)
        if not self._steps:
            return None, agent.begin()
        together = self._steps_of(self._steps[-1].decision)
        actions = [read_full_action(step, self._history.get) for step in together]
        observations = [read_full_observation(step, self._history.get) for step in together]
        return None, agent.observe(self._load_state(agent, together[0].state), actions, observations)

    def _is_pending(self, decision: Decision) -> bool:
        later = any(step.decision > decision.first for step in self._steps)
        done = self._steps_of(decision.first)
        known = decision.first <= len(self._journal) and self._journal.hash_of(decision.first) == decision.head
        return known and not later and len(done) < len(decision.actions)

    def _steps_of(self, decision: int) -> list[Step]:
        """Return the steps of a decision, in the order of its actions."""
        return sorted((step for step in self._steps if step.decision == decision), key=lambda step: step.index)

    def _load_state(self, agent: Agent[Any], blob: str) -> State:
        return agent.State.model_validate_json(self._history.get(blob))

    def _keep(self, state: State, actions: Sequence[Action]) -> Decision:
        blob = self._history.put(state.model_dump_json().encode())
        journal = self._journal
        decision = Decision(first=len(journal), head=journal.head, state=blob, actions=tuple(actions))
        self._folder.write(self._folder.decision, decision)
        return decision

    async def _perform_all(self, decision: Decision, perform: Perform) -> list[Observation]:
        """Perform all actions in parallel; return their observations; those from before an interruption are kept."""
        found = {step.index: read_full_observation(step, self._history.get) for step in self._steps_of(decision.first)}

        async def one(index: int) -> None:
            found[index] = await self._step(decision, index, perform)

        async with anyio.create_task_group() as group:
            for index in range(len(decision.actions)):
                if index not in found:
                    group.start_soon(one, index)
        return [found[index] for index in range(len(decision.actions))]

    async def _step(self, decision: Decision, index: int, perform: Perform) -> Observation:
        action, started = decision.actions[index], anyio.current_time()
        self._reporter.update(phase=f"performing {action.name[:40]}")
        cancelled = anyio.get_cancelled_exc_class()
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._snapshot_now_and_then, action)
                observation = await self._within_limits(perform, action)
                group.cancel_scope.cancel()
        except cancelled:
            with anyio.CancelScope(shield=True):
                cause = self._ending.cause if self._ending else "the run"
                await self._record(decision, index, Interruption(cause=cause), started)
            raise
        await self._record(decision, index, observation, started)
        return observation

    async def _within_limits(self, perform: Perform, action: Action) -> Observation:
        """Perform an action; if its model calls use up the budget, it is the last."""
        try:
            with self._model_limits():
                return await perform(action)
        except LimitExceededError as error:
            self._ending = Ending(LIMITS[error.type])
            return Interruption(cause=self._ending.cause)

    @contextmanager
    def _model_limits(self) -> Iterator[None]:
        """Block model requests once tokens or cost are used up; a run exceeds its budget by one answer at most."""
        left, used = self.remaining(), self.meter.usage()
        dollars = None if self._budget.cost is None else max(0.0, self._budget.cost - (used.cost or 0.0))
        with token_limit(left.tokens), cost_limit(dollars):
            yield

    async def _record(self, decision: Decision, index: int, observation: Observation, started: float) -> None:
        self.meter.add_step()
        async with self._writing:  # a history allows one writer at a time
            action, action_blob = shorten(decision.actions[index], self._history.put)
            kept, observation_blob = shorten(observation, self._history.put)
            calls, calls_blob = shorten_calls(self.take_calls(), self._history.put)
            snapshot = await to_thread.run_sync(self._take_snapshot, action.name)
            step = Step(
                time=now(),
                usage=self.meter.usage(),
                action=action,
                action_blob=action_blob,
                observation=kept,
                observation_blob=observation_blob,
                seconds=round(anyio.current_time() - started, 4),
                snapshot=snapshot,
                state=decision.state,
                decision=decision.first,
                index=index,
                count=len(decision.actions),
                notes=self.take_notes(),
                calls=calls,
                calls_blob=calls_blob,
            )
            self._journal.append(step)
            self._snapshot = snapshot
        self._steps.append(step)
        self._reporter.update(phase="thinking", step=len(self._steps), usage=step.usage)

    def _take_snapshot(self, message: str, *, thorough: bool = False) -> str:
        return self._history.snapshot(message, self._snapshot, time_s=int(time.time()), thorough=thorough)

    async def _snapshot_now_and_then(self, action: Action) -> None:
        """Take snapshots during a long action, so that a crash loses only minutes and the score curve is finer."""
        while True:
            await anyio.sleep(SNAPSHOT_INTERVAL_S)
            with anyio.CancelScope(shield=True):
                async with self._writing:
                    snapshot = await to_thread.run_sync(self._take_snapshot, f"during {action.name[:40]}")
                    self._journal.append(Snapshot(time=now(), usage=self.meter.usage(), snapshot=snapshot))
                    self._snapshot = snapshot

    async def _watch_budget(self, scope: anyio.CancelScope) -> None:
        while True:
            await anyio.sleep(WATCH_INTERVAL_S)
            write_remaining(self._folder.given, self.remaining().time_s)
            exceeded = self.meter.usage().exceeded(self._budget.model_copy(update={"steps": None}))
            if exceeded is not None:
                self._ending = Ending(exceeded)
                scope.cancel()

    def _over(self) -> Ending | None:
        """Return the reason to end between steps, or None."""
        exceeded = self.meter.usage().exceeded(self._budget)
        return self._ending or self._stopped() or (None if exceeded is None else Ending(exceeded))

    def _stopped(self) -> Ending | None:
        return Ending("a person", stopped=True) if self._stop.is_set() else None
