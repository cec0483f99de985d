"""Journal events: the typed lines of a run's journal, and the only code that reads or writes their fields."""

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

FORMAT: Literal[4] = 4
"""Journal format, written in the first line; journals of any other format are rejected."""
MAX_INLINE_CHARACTERS = 4_000
"""Longest action or observation in the journal; longer ones are cut here and kept in full as blobs of the history."""
CUT_CHARACTERS = MAX_INLINE_CHARACTERS // 4
"""Number of characters kept of each text that is cut."""
MAX_INLINE_CALLS = 500
"""Maximum number of model calls in a step; if there are more, all are kept in a blob as well."""
_INLINE_BYTES = 1 << 16


class Action(BaseModel):
    """An action by name, with its arguments."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    arguments: dict[str, Any] = {}

    @field_validator("arguments", mode="before")
    @classmethod
    def _require_json(cls, value: Any, info: ValidationInfo) -> Any:
        """Replace arguments that are not JSON, such as NaN or a thousand nested lists; the action then rejects them."""
        if info.mode == "json":
            return value
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            return {"not_json": type(error).__name__}
        return value

    def shortened(self, limit: int) -> Action:
        """Return the action with every text argument cut to `limit` characters."""
        cut = {name: value[:limit] if isinstance(value, str) else value for name, value in self.arguments.items()}
        short = self.model_copy(update={"name": self.name[:limit], "arguments": cut})
        return short if len(_dump(short)) <= _INLINE_BYTES else Action(name=self.name[:limit])


class _Event(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    time: str
    """ISO 8601 time in UTC."""
    usage: Usage
    """Total usage up to this event."""


class Start(_Event):
    """First line: the run, its budget and its sandbox policy."""

    kind: Literal["start"] = "start"
    format: Literal[4]
    task: str
    edition: Edition
    miniature: bool
    data_sha256: str
    """Hash of the task's data, public and private."""
    agent: str
    options: dict[str, str]
    model: str | None
    model_roles: dict[str, str]
    seed: int
    budget: Budget
    backend: str
    """Kind of sandbox."""
    sandbox: Policy
    """Policy that the sandbox enforces."""
    versions: dict[str, str]
    snapshot: str


class ModelCall(BaseModel):
    """An answered model request, in a form that its provider can confirm."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str
    request_sha256: str
    """Hash of the request's JSON with sorted keys and no whitespace; the run's log contains the request in full."""
    response_id: str | None
    """Provider's id of its answer."""


class Step(_Event):
    """An action of the agent and its observation."""

    kind: Literal["step"] = "step"
    action: Action
    action_blob: str | None = None
    """Blob with the full action, if it is cut here."""
    observation: Observation
    observation_blob: str | None = None
    """Blob with the full observation, if it is cut here."""
    seconds: float
    snapshot: str
    state: str
    """Blob with the agent's state in which the action was decided."""
    decision: int
    """Number of the journal's last line when the action was decided; actions decided together share it."""
    index: int
    """Position among the actions decided together, from 0."""
    count: int
    """Number of actions decided together."""
    notes: tuple[str, ...] = ()
    """Incidents during the step, such as waiting for a model."""
    calls: tuple[ModelCall, ...] = ()
    """Model calls since the previous step, up to the limit."""
    calls_blob: str | None = None
    """Blob with all model calls, if there are more."""


class Snapshot(_Event):
    """A snapshot taken during a long action."""

    kind: Literal["snapshot"] = "snapshot"
    snapshot: str


class PlanChange(BaseModel):
    """A setting of the plan that was changed between two attempts."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    before: Any
    after: Any


class Resume(_Event):
    """Start of another attempt, which continues the run where the journal ended."""

    kind: Literal["resume"] = "resume"
    lost: tuple[str, ...] = ()
    """Files of the workspace that could not be restored; the list may be cut."""
    more_lost: int = 0
    """Number of further lost files."""
    changes: tuple[PlanChange, ...] = ()
    backend: str
    sandbox: Policy
    versions: dict[str, str]


class Fork(_Event):
    """Start of a fork: the lines above were copied from another run."""

    kind: Literal["fork"] = "fork"
    source_run: str
    source_step: int
    seed: int
    """Seed of this run; the copied lines may have another."""


class End(_Event):
    """Last line of a run: the sandbox is closed, and this snapshot is graded."""

    kind: Literal["end"] = "end"
    cause: str
    stopped: bool
    """True if a person stopped the run, so that it can be resumed."""
    snapshot: str


Event = Annotated[Start | Step | Snapshot | Resume | Fork | End, Field(discriminator="kind")]
_EVENTS: TypeAdapter[Event] = TypeAdapter(Event)
_OBSERVATIONS: TypeAdapter[Observation] = TypeAdapter(Observation)
_CALLS: TypeAdapter[tuple[ModelCall, ...]] = TypeAdapter(tuple[ModelCall, ...])
Short = TypeVar("Short", Action, Observation)


def shorten(value: Short, put: Callable[[bytes], str]) -> tuple[Short, str | None]:
    """Return an action or observation cut for the journal, and the id of the blob with the full one if it was cut."""
    data = _dump(value)
    if len(data) <= MAX_INLINE_CHARACTERS:
        return value, None
    return value.shortened(CUT_CHARACTERS), put(data)


def shorten_calls(
    calls: tuple[ModelCall, ...], put: Callable[[bytes], str]
) -> tuple[tuple[ModelCall, ...], str | None]:
    """Return model calls cut for the journal, and the id of the blob with all of them if they were cut."""
    if len(calls) <= MAX_INLINE_CALLS:
        return calls, None
    return calls[:MAX_INLINE_CALLS], put(json.dumps([call.model_dump() for call in calls]).encode("ascii"))


def read_all_calls(step: Step, get: Callable[[str], bytes]) -> tuple[ModelCall, ...]:
    """Return all model calls of a step."""
    if step.calls_blob is None:
        return step.calls
    with _as_record_error("not calls of models"):
        return _CALLS.validate_python(json.loads(get(step.calls_blob)))


def read_full_action(step: Step, get: Callable[[str], bytes]) -> Action:
    """Return the action of a step in full."""
    if step.action_blob is None:
        return step.action
    with _as_record_error("not an action"):
        return Action.model_validate(json.loads(get(step.action_blob)))


def read_full_observation(step: Step, get: Callable[[str], bytes]) -> Observation:
    """Return the observation of a step in full."""
    if step.observation_blob is None:
        return step.observation
    with _as_record_error("not an observation"):
        return _OBSERVATIONS.validate_python(json.loads(get(step.observation_blob)))


def parse_event(data: bytes) -> Event:
    """Parse an event from JSON.

    Raises:
        RecordError: the data is not an event, or belongs to a journal in another format.
    """
    with _as_record_error(f"not an event of journal format {FORMAT}"):
        try:
            return _EVENTS.validate_json(data)
        except ValidationError:
            # This parser is fast but rejects lone surrogates, which agents write.
            return _EVENTS.validate_python(json.loads(data))


def _dump(value: BaseModel) -> bytes:
    # Not by pydantic: agents write lone surrogates, which only escaped ASCII can represent.
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
    """Return the current UTC time as written in events and records."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
