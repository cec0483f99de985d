"""The events of a run: every line of its journal is one of these, and nothing else reads or writes journal fields."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, ValidationInfo, field_validator

from podium.errors import RecordError
from podium.sandbox.policy import Policy
from podium.task import Edition
from podium.workspace.budget import Budget, Usage
from podium.workspace.journal.observations import Observation

FORMAT: Literal[3] = 3
"""Of the journal; it stands in the first line. A journal of another format is refused with this number."""
INLINE_CHARACTERS = 4_000
"""Longer texts of actions and observations are kept whole as blobs of the history, and cut in the journal."""
CUT_CHARACTERS = INLINE_CHARACTERS // 4
"""How much of each text is left in the journal when it is cut."""
INLINE_CALLS = 500
"""More calls of models are kept whole in the same way: a program may make thousands in one step."""
_INLINE_BYTES = 1 << 16


class Action(BaseModel):
    """Something to do in the workspace, by the name of an action and its arguments."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    arguments: dict[str, Any] = {}

    @field_validator("arguments", mode="before")
    @classmethod
    def _require_json(cls, value: Any, info: ValidationInfo) -> Any:
        """Models write NaN or nest a thousand lists: the action refuses such arguments, and the run goes on."""
        if info.mode == "json":
            return value
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            return {"not_json": type(error).__name__}
        return value

    def shortened(self, limit: int) -> Action:
        """The same with every text among the arguments cut to its first characters."""
        cut = {name: value[:limit] if isinstance(value, str) else value for name, value in self.arguments.items()}
        short = self.model_copy(update={"name": self.name[:limit], "arguments": cut})
        return short if len(_dump(short)) <= _INLINE_BYTES else Action(name=self.name[:limit])


class _Event(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    time: str
    """ISO 8601 in UTC."""
    usage: Usage
    """All that was used until then."""


class Start(_Event):
    """The first line: what the run is, what it may use, and what its sandbox enforces."""

    kind: Literal["start"] = "start"
    format: Literal[3]
    task: str
    edition: Edition
    miniature: bool
    data_sha256: str
    """Of the content of the task's data, public and private."""
    agent: str
    options: dict[str, str]
    model: str | None
    model_roles: dict[str, str]
    seed: int
    budget: Budget
    backend: str
    """Kind of sandbox."""
    sandbox: Policy
    """What it enforces."""
    versions: dict[str, str]
    snapshot: str


class ModelCall(BaseModel):
    """A request that a model answered, in a form its provider could confirm."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str
    request_sha256: str
    """Of the request's JSON with sorted keys and without spaces; the run's log has it whole."""
    response_id: str | None
    """The provider's name for its answer."""


class Step(_Event):
    """An action of the agent and its observation."""

    kind: Literal["step"] = "step"
    action: Action
    action_blob: str | None = None
    """Where the whole action is kept, if it was cut here."""
    observation: Observation
    observation_blob: str | None = None
    """The same for the observation."""
    seconds: float
    snapshot: str
    state: str
    """Blob of the agent's state the action was decided in."""
    decision: int
    """Number of the journal's last line when the action was decided: actions decided together share it."""
    index: int
    """Place of the action among those decided together, from 0."""
    count: int
    """How many were decided together."""
    notes: tuple[str, ...] = ()
    """What happened on the way that neither action nor observation tells, such as waiting for a model."""
    calls: tuple[ModelCall, ...] = ()
    """Of models, since the step before; the first of them."""
    calls_blob: str | None = None
    """Where all of them are kept, if there are more."""


class Snapshot(_Event):
    """The workspace was snapshotted in the middle of a long action."""

    kind: Literal["snapshot"] = "snapshot"
    snapshot: str


class PlanChange(BaseModel):
    """A part of the plan that somebody changed between two attempts."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    before: Any
    after: Any


class Resume(_Event):
    """Another attempt took the run up where the journal ended."""

    kind: Literal["resume"] = "resume"
    lost: tuple[str, ...] = ()
    """Files of the workspace that could not be restored, or some of them."""
    more_lost: int = 0
    """How many more there are."""
    changes: tuple[PlanChange, ...] = ()
    backend: str
    sandbox: Policy
    versions: dict[str, str]


class Fork(_Event):
    """From here on this is a run of its own: the lines before were copied from another."""

    kind: Literal["fork"] = "fork"
    source_run: str
    source_step: int
    seed: int
    """Of this run; that of the lines before may be another."""


class End(_Event):
    """The last line of a run: the sandbox is gone, and this snapshot is what is graded."""

    kind: Literal["end"] = "end"
    cause: str
    stopped: bool
    """Whether a person stopped it, so that it can be resumed."""
    snapshot: str


Event = Annotated[Start | Step | Snapshot | Resume | Fork | End, Field(discriminator="kind")]
_EVENTS: TypeAdapter[Event] = TypeAdapter(Event)
_OBSERVATIONS: TypeAdapter[Observation] = TypeAdapter(Observation)
_CALLS: TypeAdapter[tuple[ModelCall, ...]] = TypeAdapter(tuple[ModelCall, ...])
Short = TypeVar("Short", Action, Observation)


def shorten(value: Short, put: Callable[[bytes], str]) -> tuple[Short, str | None]:
    """An action or observation as a step holds it, and the blob that keeps it whole if it had to be cut."""
    data = _dump(value)
    if len(data) <= INLINE_CHARACTERS:
        return value, None
    return value.shortened(CUT_CHARACTERS), put(data)


def shorten_calls(
    calls: tuple[ModelCall, ...], put: Callable[[bytes], str]
) -> tuple[tuple[ModelCall, ...], str | None]:
    """Calls as a step holds them, and the blob that keeps all of them if they had to be cut."""
    if len(calls) <= INLINE_CALLS:
        return calls, None
    return calls[:INLINE_CALLS], put(json.dumps([call.model_dump() for call in calls]).encode("ascii"))


def whole_calls(step: Step, get: Callable[[str], bytes]) -> tuple[ModelCall, ...]:
    """All calls of models that a step is about."""
    if step.calls_blob is None:
        return step.calls
    with _as_record_error("not calls of models"):
        return _CALLS.validate_python(json.loads(get(step.calls_blob)))


def whole_action(step: Step, get: Callable[[str], bytes]) -> Action:
    """The action of a step as the agent decided it."""
    if step.action_blob is None:
        return step.action
    with _as_record_error("not an action"):
        return Action.model_validate(json.loads(get(step.action_blob)))


def whole_observation(step: Step, get: Callable[[str], bytes]) -> Observation:
    """The observation of a step as the agent got it."""
    if step.observation_blob is None:
        return step.observation
    with _as_record_error("not an observation"):
        return _OBSERVATIONS.validate_python(json.loads(get(step.observation_blob)))


def parse_event(data: bytes) -> Event:
    """The event that is written as this JSON.

    Raises:
        RecordError: they are none, or of a journal in another format.
    """
    with _as_record_error(f"not an event of journal format {FORMAT}"):
        try:
            return _EVENTS.validate_json(data)
        except ValidationError:
            # That parser is fast but refuses halves of surrogate pairs, which agents write.
            return _EVENTS.validate_python(json.loads(data))


def _dump(value: BaseModel) -> bytes:
    # Not by pydantic: agents write halves of surrogate pairs, which only ASCII can carry.
    return json.dumps(value.model_dump(mode="json")).encode("ascii")


@contextmanager
def _as_record_error(what: str) -> Iterator[None]:
    try:
        yield
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise RecordError(f"{what}: {place}: {first['msg']}") from error
    except (ValueError, RecursionError) as error:
        raise RecordError(f"{what}: {error}") from error


def now() -> str:
    """The time, in UTC, as it is written into events and records."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
