"""What is written down about experiments and runs: `experiment.json`, `run.json`, `decision.json`, `progress.json`."""

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
"""What a record says only of a valid submission."""


def _checked_time(text: str) -> str:
    if datetime.fromisoformat(text).tzinfo is None:
        raise ValueError("a time without a time zone")
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
    """How every run of an experiment is done."""

    agent: str
    """A name, or `package.module:Class`."""
    options: dict[str, str] = {}
    model: str | None = None
    model_base_url: str | None = None
    model_args: dict[str, str] = {}
    """What the model's provider is told besides, as JSON or plain text."""
    model_roles: dict[str, str] = {}
    """By role a model's name; with `@` and an address if it is served elsewhere than its maker serves it."""
    prices: dict[str, Price] = {}
    """What the models cost, as far as that is known when the experiment is made."""
    budget: Budget = Budget()
    total_tokens: Annotated[int, Field(ge=1)] | None = None
    """What all runs together may use; when it is used up, no step is begun."""
    total_cost: Annotated[float, Field(gt=0)] | None = None
    """The same in dollars."""
    edition: Edition | None = None
    """None: for each task its default."""
    sandbox: str = "bubblewrap"
    """The backend."""
    network: NetworkAccess = False
    env: str | None = None
    """The agent's Python environment; None for the one Podium runs in."""
    limits: Limits = Limits()
    cores: Annotated[int, Field(ge=1)] = 1
    """Leased for each execution."""
    gpus: Count = 0
    data_dir: Path | None = None
    miniature: bool = False
    """Whether fabricated stand-ins are used in place of the real data of tasks."""
    person: bool = False
    """Whether somebody sits at the terminal and answers agents that ask for help."""

    @property
    def models(self) -> dict[str, str | None]:
        """The models that are used, each with where it is served if not by its maker."""
        found = {} if self.model is None else {self.model: self.model_base_url}
        for text in self.model_roles.values():
            name, mark, rest = text.partition("@http")  # names may hold an @ of their own
            found[name] = f"http{rest}" if mark else None
        return found

    @property
    def provider_settings(self) -> dict[str, Any]:
        """`model_args` as values."""
        return {name: _json_or_text(text) for name, text in self.model_args.items()}


class DatedChange(PlanChange):
    """A change of the plan, and when it was made."""

    time: Time


class ExperimentDocument(_Document):
    """`experiment.json`."""

    plan: Plan
    tasks: tuple[str, ...]
    seeds: int
    created: Time
    changes: tuple[DatedChange, ...] = ()
    """What was changed in the plan when the experiment was resumed."""


class Times(_Document):
    """When things happened."""

    started: Time | None = None
    ended: Time | None = None
    graded: Time | None = None


class RunRecord(_Document):
    """`run.json`: the result of a run. Fields without a value are not known (yet)."""

    task: str
    agent: str
    model: str | None
    seed: Count
    status: Status
    ended_by: str | None = None
    """Why a finished or stopped run ended: the agent, a part of the budget, a person."""
    valid: bool | None = None
    score: Annotated[float, Field(strict=True)] | Literal["Infinity", "-Infinity", "NaN"] | None = None
    """A number; as text where JSON has none for it."""
    interval: tuple[float, float] | None = None
    """Where the score lies, 95 times of 100, if it was measured often enough to say."""
    medal: Medal | None = None
    above_median: bool | None = None
    percentile: Annotated[float, Field(ge=0, le=100)] | None = None
    improvement: float | None = None
    success: bool | None = None
    beyond_noise: bool | None = None
    best_improvement: float | None = None
    """The largest that the submission of any step had, once all of them were graded (`--curve`)."""
    higher_is_better: bool | None = None
    error: str | None = None
    """Why the run failed, or else why its submission is invalid."""
    usage: Usage = Usage()
    times: Times = Times()
    edition: Edition = "v1"
    miniature: bool = False
    changes: tuple[PlanChange, ...] = ()
    """What was changed in the plan between attempts at this run."""
    submission_sha256: str | None = None
    fallback: bool = False
    """Whether the submission is the one that the run began with, such as the sample submission."""
    journal_head: str | None = None
    """Hash of the journal's last line when the run ended."""
    validations: Count = 0
    """How often the agent asked whether a submission is valid."""
    backend: str | None = None
    """Kind of sandbox."""
    sandbox: Policy | None = None
    """What it enforced."""
    versions: dict[str, str] = {}

    @property
    def is_graded(self) -> bool:
        """Whether there is a grade: a failed run has one if it came to a first snapshot."""
        return self.valid is not None

    @model_validator(mode="after")
    def _check_consistent(self) -> RunRecord:
        """Whoever wrote the record may have wanted a medal without a grade."""
        if self.status == "finished" and not self.is_graded:
            raise ValueError("the run is finished, but there is no grade")
        if self.status in ("running", "stopped") and self.is_graded:
            raise ValueError(f"the run is {self.status}, but there is a grade")
        if self.valid and self.submission_sha256 is None:
            raise ValueError("the submission is valid, but it has no hash")
        _refuse_unearned(self)
        return self


def _refuse_unearned(graded: RunRecord | Grade) -> None:
    """A valid submission has a score, and only that has a medal."""
    if graded.valid and graded.score is None:
        raise ValueError("the submission is valid, but it has no score")
    for name in NEEDS_VALID:
        if not graded.valid and getattr(graded, name) is not None:
            raise ValueError(f"there is {name} {getattr(graded, name)}, but no valid submission")


class Decision(_Document):
    """`decision.json`: what an agent has decided to do, and perhaps not done yet."""

    first: int
    """Number of the journal's last line when it was decided."""
    head: str
    """Hash of that line: what was decided after a line that is not there any more is decided anew."""
    state: str
    """Blob of the state it was decided in."""
    actions: tuple[Action, ...]


class Question(_Document):
    """What an agent wants to know from a person."""

    number: int
    text: str


class Answer(_Document):
    """`answer.json`: what the person said; None if nobody answers."""

    number: int
    text: str | None


class Progress(_Document):
    """`progress.json`: what a running attempt is doing, for whoever follows it."""

    phase: str = "starting"
    step: int = 0
    headline: str | None = None
    """What the agent says of itself, such as its best validation score so far."""
    usage: Usage = Usage()
    question: Question | None = None


class CurvePoint(_Document):
    """A submission as it stood at some moment of a run: an entry of `curve.json`."""

    line: int
    """The journal line after which it stood there."""
    submission: str
    """Its identity: the same content has the same."""
    usage: Usage
    grade: Grade

    @model_validator(mode="after")
    def _check_consistent(self) -> CurvePoint:
        _refuse_unearned(self.grade)
        return self

    @field_serializer("grade")
    def _plain_grade(self, grade: Grade) -> dict[str, Any]:
        return grade.to_dict()
