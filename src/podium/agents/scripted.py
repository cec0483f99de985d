"""Agent that replays actions from a file, for tests, demonstrations and repetitions of another run.

The file is a JSON list of {"action": NAME, "arguments": {...}}, the format that `podium steps RUN --json` prints.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from pydantic import Field, ValidationError

from podium.agents.base import Options
from podium.agents.model_agent import ROLES
from podium.agents.scripted_base import FixedAgent, FixedState
from podium.errors import UsageError
from podium.workspace.journal.events import Action


class ScriptedOptions(Options):
    script: Path = Field(description="JSON file with the actions.")
    together: int = Field(1, ge=1, description="Number of actions performed in parallel.")


class Scripted(FixedAgent):
    """Replays a list of actions from a file, such as those of another run."""

    Options = ScriptedOptions
    roles = ROLES
    options: ScriptedOptions

    @classmethod
    def check(cls, options: ScriptedOptions) -> None:
        _read(options.script)

    async def decide(self, state: FixedState) -> Sequence[Action]:
        return self.actions()[state.done :][: self.options.together]

    def headline(self, state: FixedState) -> str | None:
        return f"{state.done} of {len(self.actions())}"

    def actions(self) -> list[Action]:
        return _read(self.options.script)


def _read(path: Path) -> list[Action]:
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
        return [Action(name=entry["action"], arguments=entry["arguments"]) for entry in entries]
    except (OSError, ValueError, KeyError, TypeError, ValidationError) as error:
        raise UsageError(
            f"-A script={path} is not a list of actions: {error}. Create one with: podium steps RUN --json"
        ) from error
