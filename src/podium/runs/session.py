"""A run from its first step to its last, across any number of interruptions.

The order of events makes kill -9 harmless. What an agent decides to do is written to `decision.json`; what happened, to
the journal, after the workspace was snapshotted and before the agent sees it. So a resumed run finds either a decision
not yet carried out, or all observations of it, and goes on from there; no step that was journalled is done again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import anyio
from anyio import to_thread
from pydantic import BaseModel

from podium.agents.base import Action, Agent, Remaining, State
from podium.errors import RecordError
from podium.runs.experiment import now
from podium.runs.meter import Meter
from podium.runs.record import Budget, RunFolder, Used, read_model, write_model
from podium.workspace.history import History
from podium.workspace.journal import Journal, Lines

INLINE_CHARACTERS = 4000
"""Longer observations are kept as blobs of the history."""
WATCH_INTERVAL_S = 0.5
SNAPSHOT_INTERVAL_S = 300.0

Perform = Callable[[Action], Awaitable[str]]
Report = Callable[[dict[str, Any]], None]


class Decision(BaseModel):
    """What an agent has decided: `decision.json`."""

    first: int
    """Number of the journal line of the first of the actions."""
    state: str
    """Blob of the state it was decided in."""
    actions: list[Action]


@dataclass(frozen=True)
class End:
    """What ended a session."""

    cause: str
    stopped: bool = False
    """Whether a person stopped it, so that it can be continued."""


class Session:
    """Carries out what an agent decides. Made inside the sample whose budget it watches."""

    def __init__(
        self,
        folder: RunFolder,
        journal: Journal,
        history: History,
        budget: Budget,
        *,
        report: Report,
        stop: threading.Event,
    ) -> None:
        """
        Args:
            report: is told what happens, for the live table.
            stop: when set, the current step is the last.
        """
        self._folder, self._journal, self._history, self._budget = folder, journal, history, budget
        self._report, self._stop = report, stop
        self._writing = anyio.Lock()
        self._end: End | None = None
        lines = [line.fields for line in journal]
        self._snapshot: str = newest(journal, "snapshot")
        self._steps = [fields for fields in lines if fields["kind"] == "step"]
        self.meter = Meter(Used.model_validate(newest(journal, "used")))

    def say(self, phase: str) -> None:
        """Tells whoever follows the run what it is doing."""
        self._report({"phase": phase})

    def remaining(self) -> Remaining:
        """What is left of the budget."""
        used, budget = self.meter.used(), self._budget
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

    async def play(self, agent: Agent[Any], perform: Perform) -> End:
        """Lets the agent work until it is done, its budget is used up or somebody stops it."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._watch_budget, group.cancel_scope)
            end = await self._loop(agent, perform)
            self._end = self._end or end
            group.cancel_scope.cancel()
        assert self._end is not None  # set by the loop, or by whoever cancelled it
        return self._end

    async def conclude(self, end: End) -> None:
        """Writes the last line. The sandbox must be gone: what is snapshotted now is what will be graded."""
        self._snapshot = await to_thread.run_sync(partial(self._take_snapshot, "end", thorough=True))
        await self._append("end", cause=end.cause, snapshot=self._snapshot)

    async def _loop(self, agent: Agent[Any], perform: Perform) -> End:
        decision, state = self._recover(agent)
        while True:
            if decision is None:
                if (over := self._over()) is not None:
                    return over
                self._report({"phase": "thinking", "headline": agent.headline(state)})
                actions = await agent.decide(state)
                if not actions:
                    return End("the agent")
                decision = self._decide(state, actions)
            observations = await self._carry_out(decision, perform)
            state = agent.observe(state, decision.actions, observations)
            decision = None

    def _recover(self, agent: Agent[Any]) -> tuple[Decision | None, Any]:
        """Where the journal leaves the agent: perhaps in the middle of carrying out a decision."""
        decision: Decision | None = read_model(self._folder.decision, Decision)
        if decision is not None and self._is_pending(decision):
            return decision, self._load_state(agent, decision.state)
        last = self._last_batch()
        if not last:
            return None, agent.begin()
        actions = [Action.model_validate({"name": line["action"], "arguments": line["arguments"]}) for line in last]
        state = self._load_state(agent, last[0]["state"])
        return None, agent.observe(state, actions, [self._observation(line) for line in last])

    def _is_pending(self, decision: Decision) -> bool:
        done = [line for line in self._steps if line["decision"] == decision.first]
        later = any(line["decision"] > decision.first for line in self._steps)
        return not later and len(done) < len(decision.actions) and decision.first <= len(self._journal)

    def _last_batch(self) -> list[dict[str, Any]]:
        """The lines of the last decision, in the order of its actions."""
        if not self._steps:
            return []
        number = self._steps[-1]["decision"]
        return sorted((line for line in self._steps if line["decision"] == number), key=lambda line: line["place"])

    def _load_state(self, agent: Agent[Any], blob: str) -> State:
        return agent.State.model_validate_json(self._history.get(blob))

    def _observation(self, line: dict[str, Any]) -> str:
        kept = line["observation"]
        return kept if isinstance(kept, str) else self._history.get(kept["blob"]).decode("utf-8")

    def _decide(self, state: State, actions: Sequence[Action]) -> Decision:
        blob = self._history.put(state.model_dump_json().encode())
        decision = Decision(first=len(self._journal), state=blob, actions=list(actions))
        write_model(self._folder.decision, decision)
        return decision

    async def _carry_out(self, decision: Decision, perform: Perform) -> list[str]:
        """The observations of all actions, done side by side; those done before an interruption are not repeated."""
        found = {line["place"]: self._observation(line) for line in self._steps if line["decision"] == decision.first}

        async def one(place: int) -> None:
            found[place] = await self._step(decision, place, perform)

        async with anyio.create_task_group() as group:
            for place in range(len(decision.actions)):
                if place not in found:
                    group.start_soon(one, place)
        return [found[place] for place in range(len(decision.actions))]

    async def _step(self, decision: Decision, place: int, perform: Perform) -> str:
        action, started = decision.actions[place], anyio.current_time()
        self._report({"phase": "acting", "action": action.name})
        facts = {"decision": decision.first, "place": place, "of": len(decision.actions), "state": decision.state}
        cancelled = anyio.get_cancelled_exc_class()
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._snapshot_now_and_then, action)
                observation = await perform(action)
                group.cancel_scope.cancel()
        except cancelled:
            with anyio.CancelScope(shield=True):
                text = f"This action was ended: {self._end.cause if self._end else 'the run'} is used up."
                await self._record(action, text, started, facts)
            raise
        await self._record(action, observation, started, facts)
        return observation

    async def _record(self, action: Action, observation: str, started: float, facts: dict[str, Any]) -> None:
        self.meter.add_step()
        kept: str | dict[str, Any] = observation
        if len(observation) > INLINE_CHARACTERS:
            data = observation.encode("utf-8", "surrogatepass").decode("utf-8", "replace").encode()
            kept = {"blob": self._history.put(data), "bytes": len(data), "head": observation[:400]}
        async with self._writing:
            self._snapshot = await to_thread.run_sync(self._take_snapshot, action.name)
            line = self._journal.append(
                {
                    "kind": "step",
                    "time": now(),
                    "action": action.name,
                    "arguments": action.arguments,
                    "observation": kept,
                    "seconds": round(anyio.current_time() - started, 4),
                    "used": self.meter.used().model_dump(),
                    "snapshot": self._snapshot,
                    **facts,
                }
            )
        self._steps.append(line.fields)
        self._report({"phase": "step", "step": len(self._steps), "used": line.fields["used"]})

    def _take_snapshot(self, message: str, *, thorough: bool = False) -> str:
        return self._history.snapshot(message, self._snapshot, time_s=int(time.time()), thorough=thorough)

    async def _append(self, kind: str, **fields: Any) -> None:
        async with self._writing:
            self._journal.append({"kind": kind, "time": now(), **fields, "used": self.meter.used().model_dump()})

    async def _snapshot_now_and_then(self, action: Action) -> None:
        """During a long action: a crash then loses minutes, and its score can be followed over time."""
        while True:
            await anyio.sleep(SNAPSHOT_INTERVAL_S)
            with anyio.CancelScope(shield=True):
                async with self._writing:
                    self._snapshot = await to_thread.run_sync(self._take_snapshot, f"during {action.name}")
                await self._append("snapshot", snapshot=self._snapshot)

    async def _watch_budget(self, scope: anyio.CancelScope) -> None:
        while True:
            await anyio.sleep(WATCH_INTERVAL_S)
            exceeded = self.meter.used().exceeded(self._budget.model_copy(update={"steps": None}))
            if exceeded is not None:
                self._end = End(exceeded)
                scope.cancel()

    def _over(self) -> End | None:
        """Between steps: whether there may be another one."""
        if self._stop.is_set():
            return End("a person", stopped=True)
        exceeded = self.meter.used().exceeded(self._budget)
        return None if exceeded is None else End(exceeded)


def newest(lines: Lines, name: str) -> Any:
    """The value that a field had last."""
    for n in range(len(lines), 0, -1):
        value = lines.read(n).fields.get(name)
        if value is not None:
            return value
    raise RecordError(f"{lines.path} does not say: {name}")
