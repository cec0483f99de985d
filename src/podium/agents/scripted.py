"""Actions from a file, one after the other: for tests, for demonstrations, and to repeat what another run did.

The file is a JSON list of {"action": NAME, "arguments": {...}}, which is what `podium steps RUN --json` prints.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from pydantic import Field, ValidationError

from podium.agents.base import Agent, Options, State
from podium.errors import UsageError
from podium.workspace.events import Action
from podium.workspace.observations import Observation


class ScriptedOptions(Options):
    script: Path = Field(description="The file with the actions.")
    together: int = Field(1, ge=1, description="How many actions are carried out side by side.")


class ScriptedState(State):
    """How many actions have been carried out."""

    done: int = 0


class Scripted(Agent[ScriptedState]):
    """Repeats a list of actions from a file, such as those of another run."""

    Options = ScriptedOptions
    State = ScriptedState
    options: ScriptedOptions

    async def decide(self, state: ScriptedState) -> Sequence[Action]:
        return self._actions()[state.done :][: self.options.together]

    def observe(
        self, state: ScriptedState, actions: Sequence[Action], observations: Sequence[Observation]
    ) -> ScriptedState:
        return ScriptedState(done=state.done + len(actions))

    def headline(self, state: ScriptedState) -> str | None:
        return f"{state.done} of {len(self._actions())}"

    def _actions(self) -> list[Action]:
        path = self.options.script
        try:
            entries = json.loads(path.read_text(encoding="utf-8"))
            return [Action(name=entry["action"], arguments=entry["arguments"]) for entry in entries]
        except (OSError, ValueError, KeyError, TypeError, ValidationError) as error:
            raise UsageError(f"-A script={path} is not a list of actions: {error}") from error
