"""What is written down about experiments and runs: plans, budgets, and `run.json`."""

from __future__ import annotations

import json
import secrets
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from podium.data.files import write_atomically
from podium.errors import PodiumError
from podium.sandbox.policy import Limits
from podium.task import Edition, Medal

PLACES = ".places"
"""The folder of an experiment with what its sandboxes see, under names that say nothing."""
Status = Literal["running", "finished", "stopped", "failed"]
Sealing = Literal["bubblewrap", "docker", "none"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Budget(_Frozen):
    """What an agent may use; None for no limit."""

    time_s: float | None = None
    """Working time; waiting for leases, rate limits and retries is not counted."""
    wall_s: float | None = None
    """Time by the clock, everything counted."""
    steps: int | None = None
    tokens: int | None = None
    cost: float | None = None
    """In dollars."""


class Used(_Frozen):
    """What an agent has used so far, over all resumptions of its run."""

    working_s: float = 0.0
    wall_s: float = 0.0
    waited_s: float = 0.0
    """Of which for leases."""
    steps: int = 0
    executions: int = 0
    tokens: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost: float = 0.0

    def exceeded(self, budget: Budget) -> str | None:
        """The part of a budget that is used up, for people."""
        parts = (
            (self.working_s, budget.time_s, "working time"),
            (self.wall_s, budget.wall_s, "time"),
            (self.steps, budget.steps, "steps"),
            (self.tokens, budget.tokens, "tokens"),
            (self.cost, budget.cost, "cost"),
        )
        return next((name for used, limit, name in parts if limit is not None and used >= limit), None)


class Plan(_Frozen):
    """How every run of an experiment is done: the content of `experiment.json`, without its list of runs."""

    agent: str
    options: dict[str, str] = {}
    model: str | None = None
    model_base_url: str | None = None
    model_roles: dict[str, str] = {}
    """By role a model's name; with `@` and an address if it is served elsewhere than its maker serves it."""
    budget: Budget = Budget()
    edition: Edition | None = None
    """None: for each task the one it means."""
    sandbox: Sealing = "bubblewrap"
    network: bool = False
    env: str | None = None
    """The agent's Python environment; None for the one Podium runs in."""
    limits: Limits = Limits()
    cores: int = 1
    """Leased for each execution."""
    gpus: int = 0
    data_dir: Path | None = None
    person: bool = False
    """Whether somebody sits at the terminal and answers agents that ask for help."""


class Experiment(_Frozen):
    """`experiment.json`."""

    plan: Plan
    tasks: tuple[str, ...]
    seeds: int
    created: str


class Times(_Frozen):
    """When things happened, as ISO 8601 in UTC."""

    started: str | None = None
    ended: str | None = None
    graded: str | None = None


class RunRecord(_Frozen):
    """`run.json`: what a run came to. Fields without a value are not known (yet)."""

    task: str
    agent: str
    model: str | None
    seed: int
    status: Status
    ended_by: str | None = None
    """Why a finished or stopped run ended: the agent, a part of the budget, a person."""
    valid: bool | None = None
    score: float | str | None = None
    """A number; as text where JSON has none for it."""
    medal: Medal | None = None
    above_median: bool | None = None
    percentile: float | None = None
    improvement: float | None = None
    success: bool | None = None
    beyond_noise: bool | None = None
    best_improvement: float | None = None
    """The largest that the submission of any step had, once all of them were graded (`--curve`)."""
    higher_is_better: bool | None = None
    error: str | None = None
    """Why the run failed, or else why its submission is invalid."""
    usage: Used = Used()
    times: Times = Times()
    edition: Edition = "v1"
    miniature: bool = False
    submission_sha256: str | None = None
    journal_head: str | None = None
    """Hash of the journal's last line when the run ended."""
    validations: int = 0
    """How often the agent asked whether a submission is valid."""
    sandbox: dict[str, Any] = {}
    versions: dict[str, str] = {}


class RunFolder:
    """The files of one run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.record = path / "run.json"
        self.journal = path / "steps.jsonl"
        self.decision = path / "decision.json"
        """What the agent has decided to do and has not done yet."""
        self.history = path / "workspace.git"
        self.submission = path / "submission.csv"
        """The graded one, where it is a table."""
        self.files = path / "submission"
        """The graded ones, where they are files."""
        self.curve = path / "curve.json"
        self.scratch = path / ".scratch.csv"
        self.logs = path / "logs"
        self.lock = path / ".lock"
        self.output = path / "worker.log"

    @property
    def workspace(self) -> Path:
        """The folder that is /home inside the sandbox."""
        return self._place() / "workspace"

    @property
    def given(self) -> Path:
        """Files of ours that the agent sees read-only."""
        return self._place() / "given"

    @property
    def data(self) -> Path:
        """Public data whose usual place would say too much."""
        return self._place() / "data"

    def _place(self) -> Path:
        """Where everything that is mounted lies: programs can read in /proc what their mounts are called on the host,
        and the name of a forged task is all that is needed to make its answers again.
        """
        link = self.path / "workspace"
        if not link.is_symlink():
            self.path.mkdir(parents=True, exist_ok=True)
            link.symlink_to(Path("..", "..", PLACES, secrets.token_hex(8), "workspace"))
        place = link.parent / link.readlink().parent
        place.mkdir(parents=True, exist_ok=True)
        return place.resolve()

    def read_record(self) -> RunRecord | None:
        record: RunRecord | None = read_model(self.record, RunRecord)
        return record

    def write_record(self, record: RunRecord) -> None:
        write_model(self.record, record)


def read_model(path: Path, kind: type[Any]) -> Any:
    """A document of that kind, or None when the file is not there."""
    try:
        return kind.model_validate_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (ValidationError, UnicodeDecodeError) as error:
        raise PodiumError(f"{path} is damaged: {error}") from error


def write_model(path: Path, document: BaseModel) -> None:
    """Writes a document, all of it or nothing."""
    text = json.dumps(document.model_dump(mode="json"), indent=1, ensure_ascii=False, allow_nan=False)
    write_atomically(path, text + "\n")
