"""A person as an agent: the run opens a shell in the sandbox and waits for somebody to come and work in it.

The whole visit is one step, timed like any other and under the same limits as a program's; its observation lists what
was typed, and when. Inspect has an agent for people too, but its way in is root's (`nsenter`), past limits and filters;
this way needs no rights and leads nowhere but into the sandbox. `attach.py` is the other end.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from podium.agents.base import Agent, State
from podium.workspace.events import Action
from podium.workspace.observations import Observation


class HumanState(State):
    """Whether the person has ended the shell."""

    is_over: bool = False


class Human(Agent[HumanState]):
    """A person in a shell inside the sandbox, timed. Open it with: podium shell RUN"""

    State = HumanState

    async def decide(self, state: HumanState) -> Sequence[Action]:
        if state.is_over:
            return []
        return [Action(name="run_command", arguments={"command": "exec python3 -u terminal.py", "folder": "agent"})]

    def observe(self, state: HumanState, actions: Sequence[Action], observations: Sequence[Observation]) -> HumanState:
        return HumanState(is_over=True)

    def headline(self, state: HumanState) -> str | None:
        return "waits for a person: podium shell RUN"

    def files(self) -> Path | None:
        return Path(__file__).parent / "inside"

    def environment(self) -> dict[str, str]:
        time_s = self.assignment.remaining().time_s
        return {} if time_s is None else {"TIME_LIMIT_SECS": str(int(time_s))}
