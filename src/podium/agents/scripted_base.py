"""Base class of agents whose actions are all known from the start."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from podium.agents.base import Agent, State
from podium.workspace.journal.events import Action
from podium.workspace.journal.observations import Observation


class FixedState(State):
    """Number of actions already performed."""

    done: int = 0


class FixedAgent(Agent[FixedState]):
    """Agent that performs a fixed list of actions one by one."""

    State = FixedState

    @abstractmethod
    def actions(self) -> list[Action]:
        """Return all actions of the run."""

    async def decide(self, state: FixedState) -> Sequence[Action]:
        return self.actions()[state.done :][:1]

    def observe(self, state: FixedState, actions: Sequence[Action], observations: Sequence[Observation]) -> FixedState:
        return FixedState(done=state.done + len(actions))
