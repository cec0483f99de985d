"""Coding agents: an unmodified program in the sandbox, its model behind the gateway, its tool calls as steps."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar, Literal

import anyio
from pydantic import Field

from podium.actions.execution import program_output
from podium.actions.program_runner import RunProgram
from podium.agents.base import Agent, Assignment, Options, State
from podium.agents.coding.find_python import find_python, missing_python_message
from podium.agents.coding.install_agent import ENVIRONMENT, SETTINGS, folder_of, installed
from podium.agents.coding.preset import Preset
from podium.agents.command import check_variables, task_environment
from podium.errors import UsageError
from podium.models.gateway.observed_session import MESSAGE, ObservedSession, ObservedStep, key_of
from podium.sandbox.spec import HOME, Mount
from podium.workspace.journal.events import Action
from podium.workspace.journal.observations import Observation, Refusal

AGENT_HOME = f"{HOME}/agent"
CONTINUE = "You were interrupted. Your files are unchanged. Continue with the task until it is done."
END = "program_end"
"""Name of the last step, which records the exit code and the output of the program."""
LOST = Refusal(text="The run was interrupted before the result of this action was recorded.")


class CodingOptions(Options):
    lease: Literal["computing", "always"] = Field(
        "computing",
        description="When the program holds its cores: computing (not while it waits for the model) or always.",
    )
    arguments: str = Field("", description="Additional command-line arguments for the program, in shell syntax.")
    variables: str = Field("", description="Additional environment variables: NAME=VALUE, separated by commas.")


class CodingState(State):
    """Progress of the program."""

    steps: int = 0
    last: str | None = None
    """Key of the last tool call, which identifies the position in a resumed conversation."""
    has_ended: bool = False


class CodingAgent(Agent[CodingState]):
    """Coding agent described by a preset."""

    preset: ClassVar[Preset]
    Options = CodingOptions
    State = CodingState
    needs_model = True
    serves_model = True
    options: CodingOptions

    def __init__(self, assignment: Assignment, options: CodingOptions) -> None:
        super().__init__(assignment, options)
        self._session = ObservedSession(self.preset.tools)
        self._wanted = anyio.Event()
        self._done: ObservedStep | None = None
        self._command = self._prompt = ""

    @classmethod
    def check(cls, options: CodingOptions) -> None:
        """Raise an error if the preset is not installed or a variable has no value."""
        check_variables(options.variables)
        if (missing := cls.missing()) is not None:
            raise UsageError(f"The agent '{cls.preset.name}' is not available: {missing}")

    @classmethod
    def missing(cls) -> str | None:
        preset = cls.preset
        if preset.protocol == "google" and find_spec("google.genai") is None:
            return "its protocol (Google) requires an optional dependency. Run: pip install 'podium[coding]'"
        if installed(preset) is None:
            if find_python(preset.install.python) is None:
                return missing_python_message(preset.name, preset.install.python)
            size = f"about {preset.install.megabytes:,} MB"
            return f"it is not installed. Run: podium agents install {preset.name} ({size})"
        return None

    @classmethod
    def mounts(cls, options: CodingOptions) -> tuple[Mount, ...]:
        folder, place = folder_of(cls.preset), f"/opt/{cls.preset.name}"
        own = Mount(source=folder, target=place)
        if cls.preset.install.kind == "npm":
            return (own,)
        # A mount of its own, because the sandbox also shows the base interpreter of a mounted environment.
        return (own, Mount(source=folder / ENVIRONMENT, target=f"{place}/{ENVIRONMENT}"))

    @classmethod
    def versions(cls) -> dict[str, str]:
        found = installed(cls.preset)
        return {} if found is None else {cls.preset.name: f"{' '.join(found.packages)} sha256:{found.sha256}"}

    def files(self) -> Path | None:
        return folder_of(self.preset) / SETTINGS if self.preset.files else None

    def environment(self) -> dict[str, str]:
        preset = self.preset
        return {
            **task_environment(self.assignment, self.options.variables),
            "HOME": AGENT_HOME,
            "PROGRAM": preset.program(f"/opt/{preset.name}"),
            **preset.environment,
        }

    def observer(self) -> ObservedSession:
        return self._session

    def keeps_lease(self) -> bool:
        return self.options.lease == "always"

    async def work(self, execute: RunProgram) -> None:
        """Run the program as soon as its first step is requested."""
        await self._wanted.wait()
        result = await execute(["/bin/sh", "-c", self._command], cwd=HOME, environment={"PROMPT": self._prompt})
        action = Action(name=END, arguments={"command": self._command})
        await self._session.end(ObservedStep(action, program_output(result)))

    async def decide(self, state: CodingState) -> Sequence[Action]:
        if state.has_ended:
            return []
        if not self._wanted.is_set():
            self._command = self._start(is_resumed=state.steps > 0)
            self._session.skip_to(state.last)
            self._wanted.set()
        self._done = await self._session.next()
        return [] if self._done is None else [self._done.action]

    def _start(self, *, is_resumed: bool) -> str:
        resume = self.preset.resume if is_resumed else None
        self._prompt = CONTINUE if resume else self.assignment.instructions
        return f"{resume or self.preset.start} {self.options.arguments}".strip()

    async def perform(self, action: Action) -> Observation:
        if self._done is None:
            return LOST
        return self._done.observation

    def observe(
        self, state: CodingState, actions: Sequence[Action], observations: Sequence[Observation]
    ) -> CodingState:
        has_ended = any(action.name == END for action in actions)
        done = [action for action, observation in zip(actions, observations, strict=True) if observation != LOST]
        calls = [action for action in done if action.name not in (MESSAGE, END)]
        last = key_of(calls[-1]) if calls else state.last
        return CodingState(steps=state.steps + len(actions), last=last, has_ended=has_ended)
