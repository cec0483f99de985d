"""Base class of agents: a small typed state, `decide` (the next actions) and `observe` (the state after them).

The runtime owns the loop. It journals every step and saves the state of each decision, so a killed run continues with
the very next action. An agent that keeps all its memory in its state is resumable without further code.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, TypeVar, cast

from pydantic import BaseModel, ConfigDict

from podium.actions.program_runner import RunProgram
from podium.sandbox.spec import Mount
from podium.task import Task
from podium.workspace.journal.events import Action
from podium.workspace.journal.observations import Observation

if TYPE_CHECKING:
    from podium.models.gateway.gateway_server import Observer

SubmissionKind = Literal["table", "files"]


class State(BaseModel):
    """Memory of an agent: small, typed and serialisable as JSON."""

    model_config = ConfigDict(extra="forbid")


class Options(BaseModel):
    """Options of an agent. Each can be set with `-A name=value`; `podium agents NAME` shows its description."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True)
class Remaining:
    """Remaining budget. None means unlimited."""

    time_s: float | None = None
    steps: int | None = None
    tokens: int | None = None


@dataclass(frozen=True)
class Assignment:
    """Task, data and limits that an agent receives."""

    task: Task
    """Source of the submission form, metric and starter code. The id of a forged task must never reach a model or the
    workspace."""
    seed: int
    instructions: str
    """Content of /home/instructions.txt."""
    public: Path
    """Public data on the host, mounted in the sandbox as /home/data."""
    remaining: Callable[[], Remaining] = field(repr=False)
    cores: int = 1
    """CPU cores of each execution."""
    gpus: int = 0
    env: str | None = None
    """Python environment of scripts. None means the one that Podium runs in."""
    is_held_out: bool = False
    """True if training rows are held out and scripts are scored on them."""
    experience: Callable[[], Iterable[tuple[str, str]]] = field(default=tuple, repr=False)
    """Cross-task memory: the kind of task and the final state (JSON) of this agent's finished runs on other tasks."""
    has_person: bool = False
    """True if a person answers the action `request_help`."""


AnyState = TypeVar("AnyState", bound=State)


class Agent(ABC, Generic[AnyState]):
    """Agent on one task. A new instance is created whenever a run is resumed.

    `podium agents` shows the first line of a subclass's docstring.
    """

    Options: ClassVar[type[Options]] = Options
    State: ClassVar[type[State]]
    roles: ClassVar[Mapping[str, str]] = {}
    """Model roles and their descriptions. `--role ROLE=MODEL` assigns a model of its own to a role."""
    needs_model: ClassVar[bool] = False
    """True if the agent cannot run without a model."""
    submits: ClassVar[frozenset[SubmissionKind]] = frozenset({"table", "files"})
    """Kinds of submission it can produce. It is not started on a task that requires another kind."""
    needs_starter: ClassVar[bool] = False
    """True if it only works on tasks with starter code."""
    starts_from_sample: ClassVar[bool] = False
    """True if the sample submission is copied before the first step, so that a valid submission always exists."""
    serves_model: ClassVar[bool] = False
    """True if its programs may call the run's model through the gateway in the sandbox."""

    def __init__(self, assignment: Assignment, options: Any) -> None:
        self.assignment = assignment
        self.options = options

    @classmethod
    def check(cls, options: Any) -> None:
        """Raise an error for options that cannot work, before anything is started.

        Raises:
            UsageError: a file or program named by the options does not exist.
        """

    def held_out_shares(self) -> tuple[float, float] | None:
        """Return the shares of training rows held out for the search and for the final selection, or None."""
        return None

    @property
    def requires_held_out(self) -> bool:
        """Return whether the agent must not run on a task whose rows cannot be held out."""
        return False

    def begin(self) -> AnyState:
        """Return the state before the first step."""
        return cast(AnyState, self.State())

    @abstractmethod
    async def decide(self, state: AnyState) -> Sequence[Action]:
        """Return the next actions. Several actions run in parallel; an empty sequence means that the agent is done."""

    @abstractmethod
    def observe(self, state: AnyState, actions: Sequence[Action], observations: Sequence[Observation]) -> AnyState:
        """Return the state after the actions. Must be pure: it may be called again for the same step."""

    def headline(self, state: AnyState) -> str | None:
        """Return a one-line summary of the state for the live table, such as the best validation score."""
        return None

    def files(self) -> Path | None:
        """Return a folder that is copied to /home/agent before the run starts, or None."""
        return None

    def environment(self) -> dict[str, str]:
        """Return environment variables for the agent's programs."""
        return {}

    @classmethod
    def mounts(cls, options: Any) -> tuple[Mount, ...]:
        """Return mounts that make the agent's own programs visible in the sandbox."""
        return ()

    @classmethod
    def missing(cls) -> str | None:
        """Return a message about a missing requirement and the command that installs it, or None."""
        return None

    @classmethod
    def versions(cls) -> dict[str, str]:
        """Return the versions of the agent's own programs, which are recorded with the run."""
        return {}

    def observer(self) -> Observer | None:
        """Return an observer of the model calls of programs in the sandbox, or None."""
        return None

    def keeps_lease(self) -> bool:
        """Return whether the program started by `work` keeps its cores while it waits for its model."""
        return False

    async def work(self, execute: RunProgram) -> None:
        """Run a background job for the duration of the run, such as a program that acts by itself."""

    async def perform(self, action: Action) -> Observation | None:
        """Return the observation of an action that the agent's own program performed. None: the runtime performs it."""
        return None
