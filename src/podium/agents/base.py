"""What every agent is: a small typed state, a decision what to do next, and what it makes of the observation.

The runtime owns the loop. It journals every step and saves the state the decision was made in, so a killed run goes on
with the very next action; an agent that keeps everything it knows in its state needs nothing more to be resumable.
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
    from podium.models.gateway.endpoint import Observer

SubmissionKind = Literal["table", "files"]


class State(BaseModel):
    """An agent's memory: small, typed, JSON."""

    model_config = ConfigDict(extra="forbid")


class Options(BaseModel):
    """An agent's options; each is settable as `-A name=value` and says in its description what it does."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True)
class Remaining:
    """What is left of the budget; None where there is no limit."""

    time_s: float | None = None
    steps: int | None = None
    tokens: int | None = None


@dataclass(frozen=True)
class Assignment:
    """What an agent is given: the task as the agent may see it, and means to look around."""

    task: Task
    """For its form, metric and starter. Its id must never reach a model or the workspace of a forged task."""
    seed: int
    instructions: str
    """What /home/instructions.txt says."""
    public: Path
    """The public data on the host; inside it is /home/data."""
    remaining: Callable[[], Remaining] = field(repr=False)
    cores: int = 1
    """For each execution."""
    gpus: int = 0
    env: str | None = None
    """The Python environment that scripts run in; None for the one Podium runs in."""
    is_held_out: bool = False
    """Whether training rows were set aside, and scripts are scored on them."""
    experience: Callable[[], Iterable[tuple[str, str]]] = field(default=tuple, repr=False)
    """The kinds of the experiment's other tasks on which this agent has finished, with its last state as JSON."""
    has_person: bool = False
    """Whether somebody answers the action `request_help`."""


AnyState = TypeVar("AnyState", bound=State)


class Agent(ABC, Generic[AnyState]):
    """One agent on one task. It is made anew whenever a run is resumed.

    The first line of a subclass's docstring is what `podium agents` says about it.
    """

    Options: ClassVar[type[Options]] = Options
    State: ClassVar[type[State]]
    roles: ClassVar[Mapping[str, str]] = {}
    """The roles it asks models in, each with what that model does; `--role ROLE=MODEL` gives one a model of its own."""
    needs_model: ClassVar[bool] = False
    """Whether a run of it must have a model."""
    submits: ClassVar[frozenset[SubmissionKind]] = frozenset({"table", "files"})
    """What it can submit; it is not started on a task that asks for something else."""
    needs_starter: ClassVar[bool] = False
    """Whether it works on starter code only."""
    starts_from_sample: ClassVar[bool] = False
    """Whether the sample submission is submitted before it begins, so that there is always something valid."""
    serves_model: ClassVar[bool] = False
    """Whether its programs may ask the run's model themselves, at an address inside the sandbox."""

    def __init__(self, assignment: Assignment, options: Any) -> None:
        self.assignment = assignment
        self.options = options

    @classmethod
    def check(cls, options: Any) -> None:
        """Refuses options that cannot work, before anything is started.

        Raises:
            UsageError: a file or a program that they name is not there.
        """

    def held_out_shares(self) -> tuple[float, float] | None:
        """The shares of the training rows that are set aside for the search and for the final choice, if any."""
        return None

    @property
    def requires_held_out(self) -> bool:
        """Whether it must not work where no rows can be set aside."""
        return False

    def begin(self) -> AnyState:
        """The state before the first step."""
        return cast(AnyState, self.State())

    @abstractmethod
    async def decide(self, state: AnyState) -> Sequence[Action]:
        """What to do next. Several actions are carried out side by side; none means that the agent is done."""

    @abstractmethod
    def observe(self, state: AnyState, actions: Sequence[Action], observations: Sequence[Observation]) -> AnyState:
        """The state after the actions were carried out. Pure: it may be called again for the same step."""

    def headline(self, state: AnyState) -> str | None:
        """What the live table shows of a state, such as the best validation score so far."""
        return None

    def files(self) -> Path | None:
        """A folder to be copied to /home/agent before the run starts."""
        return None

    def environment(self) -> dict[str, str]:
        """Variables that the agent's programs see."""
        return {}

    @classmethod
    def mounts(cls, options: Any) -> tuple[Mount, ...]:
        """Programs of its own that the sandbox is to show."""
        return ()

    @classmethod
    def missing(cls) -> str | None:
        """What it needs that is not there yet, and how to get it; None if nothing is."""
        return None

    @classmethod
    def versions(cls) -> dict[str, str]:
        """Of programs of its own, for the record."""
        return {}

    def observer(self) -> Observer | None:
        """Sees what programs ask the model, if the agent wants to know."""
        return None

    def keeps_lease(self) -> bool:
        """Whether the program that `work` runs holds its cores even while its model thinks."""
        return False

    async def work(self, execute: RunProgram) -> None:
        """What it does beside the loop while a run is under way, such as running a program that acts by itself."""

    async def perform(self, action: Action) -> Observation | None:
        """What came of an action that a program of its own has carried out; None: it is to be carried out now."""
        return None
