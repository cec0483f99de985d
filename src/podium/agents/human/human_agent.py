"""A person as an agent: the run opens a shell in the sandbox and waits for somebody to come and work in it.

The whole visit is one step, timed like any other and under the same limits as a program's; its observation lists what
was typed, and when. Inspect has an agent for people too, but its way in is root's (`nsenter`), past limits and filters;
this way needs no rights and leads nowhere but into the sandbox. `attach.py` is the other end.
"""

from __future__ import annotations

from pathlib import Path

from podium.agents.scripted_base import FixedAgent, FixedState
from podium.workspace.journal.events import Action


class Human(FixedAgent):
    """A person in a shell inside the sandbox, timed. Open it with: podium shell RUN"""

    def actions(self) -> list[Action]:
        return [Action(name="run_command", arguments={"command": "exec python3 -u terminal.py", "folder": "agent"})]

    def headline(self, state: FixedState) -> str | None:
        return "waits for a person: podium shell RUN"

    def files(self) -> Path | None:
        return Path(__file__).parent / "inside"

    def environment(self) -> dict[str, str]:
        time_s = self.assignment.remaining().time_s
        return {} if time_s is None else {"TIME_LIMIT_SECS": str(int(time_s))}
