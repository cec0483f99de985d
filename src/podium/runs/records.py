"""Documents of experiments and runs: `experiment.json`, `run.json`, `decision.json`, `progress.json`."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_serializer, model_validator

from podium.grading.grade import Grade
from podium.models.prices import Price
from podium.sandbox.policy import Policy
from podium.sandbox.spec import Limits, NetworkAccess
from podium.task import Edition, Medal
from podium.workspace.budget import Budget, Usage
from podium.workspace.journal.events import Action, PlanChange

Status = Literal["running", "finished", "stopped", "failed"]
NEEDS_VALID = ("score", "interval", "medal", "above_median", "percentile", "improvement", "success", "beyond_noise")
"""Fields that only valid submissions have."""


def _checked_time(text: str) -> str:
    if datetime.fromisoformat(text).tzinfo is None:
        raise ValueError("the time has no time zone")
    return text


def _json_or_text(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


Time = Annotated[str, AfterValidator(_checked_time)]
"""ISO 8601 in UTC."""
Count = Annotated[int, Field(ge=0)]


class _Document(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Plan(_Document):
    """Settings shared by all runs of an experiment."""

    agent: str
    """Name of the agent, or `package.module:Class`."""
    options: dict[str, str] = {}
    model: str | None = None
    model_base_url: str | None = None
    model_args: dict[str, str] = {}
    """Further arguments for the model's provider, as JSON or plain text."""
    model_roles: dict[str, str] = {}
    """Model name by role, followed by `@` and a base URL if it is not served by its vendor."""
    prices: dict[str, Price] = {}
    """Known model prices at the time the experiment was created."""
    budget: Budget = Budget()
    total_tokens: Annotated[int, Field(ge=1)] | None = None
    """Token limit for all runs together; once it is reached, no further step starts."""
    total_cost: Annotated[float, Field(gt=0)] | None = None
    """Cost limit in dollars for all runs together; once it is reached, no further step starts."""
    edition: Edition | None = None
    """Edition of all tasks; None for each task's default."""
    sandbox: str = "bubblewrap"
    """Sandbox backend."""
    network: NetworkAccess = False
    env: str | None = None
    """Python environment of the agent; None for the one that runs Podium."""
    limits: Limits = Limits()
    cores: Annotated[int, Field(ge=1)] = 1
    """Cores leased for each execution."""
    gpus: Count = 0
    data_dir: Path | None = None
    miniature: bool = False
    """True to use miniatures instead of the tasks' real data."""
    person: bool = False
    """True if a person at the terminal answers requests for help."""

    @property
    def models(self) -> dict[str, str | None]:
        """Return the base URL of each model in use, or None where the vendor serves it."""
        found = {} if self.model is None else {self.model: self.model_base_url}
        for text in self.model_roles.values():
            name, mark, rest = text.partition("@http")  # names may contain an @
            found[name] = f"http{rest}" if mark else None
        return found

    @property
    def provider_settings(self) -> dict[str, Any]:
        """Return `model_args` with parsed values."""
        return {name: _json_or_text(text) for name, text in self.model_args.items()}


class DatedChange(PlanChange):
    """A change of the plan with its time."""

    time: Time


class ExperimentDocument(_Document):
    """`experiment.json`."""

    plan: Plan
    tasks: tuple[str, ...]
    seeds: int
    created: Time
    changes: tuple[DatedChange, ...] = ()
    """Plan changes made when the experiment was resumed."""


class Times(_Document):
    """Start, end and grading time of a run."""

    started: Time | None = None
    ended: Time | None = None
    graded: Time | None = None


class RunRecord(_Document):
    """Result of a run, stored as `run.json`. Unknown fields are None."""

    task: str
    agent: str
    model: str | None
    seed: Count
    status: Status
    ended_by: str | None = None
    """Why a finished or stopped run ended: the agent, a budget limit or a person."""
    valid: bool | None = None
    score: Annotated[float, Field(strict=True)] | Literal["Infinity", "-Infinity", "NaN"] | None = None
    """A number, or text for values that JSON cannot represent."""
    interval: tuple[float, float] | None = None
    """95 % confidence interval of the score, if it was measured often enough."""
    medal: Medal | None = None
    above_median: bool | None = None
    percentile: Annotated[float, Field(ge=0, le=100)] | None = None
    improvement: float | None = None
    success: bool | None = None
    beyond_noise: bool | None = None
    best_improvement: float | None = None
    """Largest improvement of any step's submission, if all were graded (`--curve`)."""
    higher_is_better: bool | None = None
    error: str | None = None
    """Reason why the run failed, or why its submission is invalid."""
    usage: Usage = Usage()
    times: Times = Times()
    edition: Edition = "v1"
    miniature: bool = False
    changes: tuple[PlanChange, ...] = ()
    """Plan changes between attempts at this run."""
    submission_sha256: str | None = None
    fallback: bool = False
    """True if the submission is still the initial one, such as the sample submission."""
    journal_head: str | None = None
    """Hash of the journal's last line when the run ended."""
    validations: Count = 0
    """Number of times the agent had a submission validated."""
    backend: str | None = None
    """Sandbox backend."""
    sandbox: Policy | None = None
    """Policy enforced by the sandbox."""
    versions: dict[str, str] = {}

    @property
    def is_graded(self) -> bool:
        """Return whether the run has a grade; a failed run has one if it reached its first snapshot."""
        return self.valid is not None

    @model_validator(mode="after")
    def _check_consistent(self) -> RunRecord:
        """Refuse contradictory fields, since the author of the record may have forged it."""
        if self.status == "finished" and not self.is_graded:
            raise ValueError("the run is finished but has no grade")
        if self.status in ("running", "stopped") and self.is_graded:
            raise ValueError(f"the run is {self.status} but has a grade")
        if self.valid and self.submission_sha256 is None:
            raise ValueError("the submission is valid but has no hash")
        _refuse_unearned(self)
        return self


def _refuse_unearned(graded: RunRecord | Grade) -> None:
    """Refuse a valid submission without a score, and results such as a medal without a valid submission."""
    if graded.valid and graded.score is None:
        raise ValueError("the submission is valid but has no score")
    for name in NEEDS_VALID:
        if not graded.valid and getattr(graded, name) is not None:
            raise ValueError(f"{name} is {getattr(graded, name)}, but no valid submission exists")


class Decision(_Document):
    """`decision.json`: actions an agent has decided on, possibly not performed yet."""

    first: int
    """Number of the journal's last line at the time of the decision."""
    head: str
    """Hash of that line; if the line no longer exists, the agent decides anew."""
    state: str
    """Blob of the agent's state before the decision."""
    actions: tuple[Action, ...]


class Question(_Document):
    """A question from an agent to a person."""

    number: int
    text: str


class Answer(_Document):
    """`answer.json`: a person's answer, or None without one."""

    number: int
    text: str | None


class Progress(_Document):
    """`progress.json`: live status of a running attempt."""

    phase: str = "starting"
    step: int = 0
    headline: str | None = None
    """Short status from the agent, such as its best validation score so far."""
    usage: Usage = Usage()
    question: Question | None = None


class CurvePoint(_Document):
    """One submission during a run with its grade: an entry of `curve.json`."""

    line: int
    """Journal line after which the submission was in place."""
    submission: str
    """Content identity of the submission."""
    usage: Usage
    grade: Grade

    @model_validator(mode="after")
    def _check_consistent(self) -> CurvePoint:
        _refuse_unearned(self.grade)
        return self

    @field_serializer("grade")
    def _plain_grade(self, grade: Grade) -> dict[str, Any]:
        return grade.to_dict()
