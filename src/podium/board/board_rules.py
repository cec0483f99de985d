"""The rules of a board as data: `rules.toml`, read once, refused when it says something unknown."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from podium.board.ledger.statements import first_problem
from podium.catalog import expand
from podium.errors import UsageError
from podium.task import Edition
from podium.text import parse_duration

RULES_FILE = "rules.toml"


def _seconds(value: object) -> object:
    return parse_duration(value) if isinstance(value, str) else value


Seconds = Annotated[float, BeforeValidator(_seconds)]


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class BudgetRules(_Table):
    """The most that a run may be given; what is not named may be anything."""

    time: Seconds | None = None
    wall_time: Seconds | None = None
    steps: int | None = None
    tokens: int | None = None
    cost: float | None = None


class SandboxRules(_Table):
    backends: tuple[str, ...] = ("bubblewrap", "docker")
    sealed: bool = True
    """Whether programs must see nothing of the host."""
    network: bool = False
    """Whether programs may reach other machines."""
    memory_gib: float | None = None
    """The most memory that a run may have."""
    gpus: int | None = None
    """The most GPUs that an execution may have."""


class RunRules(_Table):
    padding: bool = True
    """Whether runs that never finished count as failed; otherwise such an experiment is refused."""
    resumes: int = 10
    """How often a run may be taken up again."""
    forks: bool = False
    changes: bool = False
    """Whether model or budget may be changed while runs are going."""
    light: bool = False
    """Whether a bundle may come without snapshots."""


class RegistrationRules(_Table):
    required: bool = True
    anchor_delay: Seconds = 1800.0
    """How late the board may learn of a run's start and end."""
    anchor_gap: Seconds | None = None
    """How long the board may know nothing of what a run has done since, while it goes on; None: until its end."""
    clock_skew: Seconds = 300.0
    """How far the clocks of board and machine may differ."""
    abandoned: int = 0
    """How many registrations of the same plan by the same key may be neither accepted nor withdrawn."""
    withdrawn: int = 2
    """How many may have been withdrawn."""


class Rules(_Table):
    """What a board accepts."""

    name: str
    suite: tuple[str, ...] = Field(min_length=1)
    """Names of suites and tasks."""
    editions: tuple[Edition, ...] = ("v1", "fixed")
    seeds: int = 1
    """At least."""
    miniature: bool = False
    """Whether fabricated data counts; if so, only that does."""
    disclosures: tuple[str, ...] = ()
    """What a publisher has to answer."""
    podium_sha256: tuple[str, ...] = ()
    """Podium's own files may be these; any if none is named."""
    budget: BudgetRules = BudgetRules()
    sandbox: SandboxRules = SandboxRules()
    runs: RunRules = RunRules()
    registration: RegistrationRules = RegistrationRules()

    @property
    def tasks(self) -> list[str]:
        return expand(list(self.suite))


def read_rules(path: Path) -> Rules:
    """The rules in a file.

    Raises:
        UsageError: there are none, or they say something unknown.
    """
    try:
        return Rules.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise UsageError(f"There are no rules in {path} ({error.strerror}).") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not TOML: {error}") from error
    except ValidationError as error:
        raise UsageError(f"{path}: {first_problem(error)}") from error


TEMPLATE = """# What this board accepts. Change it before the first entry.
name = "{name}"
suite = ["lite"]               # suites or tasks; every one of them is counted
editions = ["v1"]
seeds = 3                      # at least
miniature = false
disclosures = ["retrieval", "trained_on_tasks", "closed_source"]

[budget]                       # the most a run may be given
time = "24h"

[sandbox]
backends = ["bubblewrap", "docker"]
sealed = true
network = false

[runs]
padding = true                 # what never finished counts as failed
resumes = 10
forks = false
changes = false
light = false

[registration]
required = true
anchor_delay = "30m"           # how late the board may learn of a start or an end
anchor_gap = "1h"              # how long it may know nothing of what a run did meanwhile; runs are anchored every 10m
abandoned = 0                  # registrations of one plan neither accepted nor withdrawn
withdrawn = 2
"""
