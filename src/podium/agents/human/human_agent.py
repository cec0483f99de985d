"""Agent `human`: the run opens a shell in the sandbox and waits for a person to work in it.

The whole session is one step with the time and resource limits of any other; its observation lists the commands with
their times. Inspect's agent for people enters as root (`nsenter`), past limits and filters; this one needs no
privileges and stays inside the sandbox. `attach.py` is the client.
"""

from __future__ import annotations

from pathlib import Path

from podium.agents.scripted_base import FixedAgent, FixedState
from podium.workspace.journal.events import Action


class Human(FixedAgent):
    """Opens a timed shell in the sandbox for a person. Attach with: podium shell RUN"""

    def actions(self) -> list[Action]:
        return [Action(name="run_command", arguments={"command": "exec python3 -u terminal.py", "folder": "agent"})]

    def headline(self, state: FixedState) -> str | None:
        return "waiting for a person; attach with: podium shell RUN"

    def files(self) -> Path | None:
        return Path(__file__).parent / "inside"

    def environment(self) -> dict[str, str]:
        time_s = self.assignment.remaining().time_s
        return {} if time_s is None else {"TIME_LIMIT_SECS": str(int(time_s))}
