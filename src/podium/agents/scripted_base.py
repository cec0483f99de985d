"""What agents share that know all their actions from the start."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from podium.agents.base import Agent, State
from podium.workspace.journal.events import Action
from podium.workspace.journal.observations import Observation


class FixedState(State):
    """How many of the actions have been carried out."""

    done: int = 0


class FixedAgent(Agent[FixedState]):
    """Carries out a list of actions, one after the other."""

    State = FixedState

    @abstractmethod
    def actions(self) -> list[Action]:
        """All of them."""

    async def decide(self, state: FixedState) -> Sequence[Action]:
        return self.actions()[state.done :][:1]

    def observe(self, state: FixedState, actions: Sequence[Action], observations: Sequence[Observation]) -> FixedState:
        return FixedState(done=state.done + len(actions))
