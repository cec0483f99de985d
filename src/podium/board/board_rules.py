"""Rules of a board, from `rules.toml`. Unknown keys are errors."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from podium.board.ledger.statements import first_problem
from podium.catalog.registry import expand
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
    """Maximum budget of a run; None is no limit."""

    time: Seconds | None = None
    wall_time: Seconds | None = None
    steps: int | None = None
    tokens: int | None = None
    cost: float | None = None


class SandboxRules(_Table):
    backends: tuple[str, ...] = ("bubblewrap", "docker")
    sealed: bool = True
    """True if programs must be isolated from the host."""
    network: bool = False
    """True if programs may access the network."""
    memory_gib: float | None = None
    """Maximum memory of a run."""
    gpus: int | None = None
    """Maximum number of GPUs of an execution."""


class RunRules(_Table):
    padding: bool = True
    """True if unfinished runs count as failed; otherwise an experiment with unfinished runs is refused."""
    resumes: int = 10
    """Maximum number of times a run may be resumed."""
    forks: bool = False
    changes: bool = False
    """True if the model or the budget may be changed during runs."""
    light: bool = False
    """True if a bundle may omit snapshots."""


class RegistrationRules(_Table):
    required: bool = True
    anchor_delay: Seconds = 1800.0
    """Maximum delay between a run's start or end and its anchor."""
    anchor_gap: Seconds | None = None
    """Maximum time between a journal entry and its anchor while a run continues; None is no limit."""
    clock_skew: Seconds = 300.0
    """Maximum difference between the clocks of the board and the machine."""
    abandoned: int = 0
    """Maximum number of registrations of one plan by one key that were neither accepted nor withdrawn."""
    withdrawn: int = 2
    """Maximum number of withdrawn registrations of one plan by one key."""


class Rules(_Table):
    """Rules of a board."""

    name: str
    suite: tuple[str, ...] = Field(min_length=1)
    """Names of suites and tasks."""
    editions: tuple[Edition, ...] = ("v1", "fixed")
    seeds: int = 1
    """Minimum number of seeds."""
    miniature: bool = False
    """True if the board ranks runs on fabricated data, and only those."""
    disclosures: tuple[str, ...] = ()
    """Names of the disclosures that a publisher must make."""
    podium_sha256: tuple[str, ...] = ()
    """Accepted hashes of Podium's own files; empty accepts any."""
    budget: BudgetRules = BudgetRules()
    sandbox: SandboxRules = SandboxRules()
    runs: RunRules = RunRules()
    registration: RegistrationRules = RegistrationRules()

    @property
    def tasks(self) -> list[str]:
        return expand(list(self.suite))


def read_rules(path: Path) -> Rules:
    """Read the rules in a file.

    Raises:
        UsageError: The file does not exist or is invalid.
    """
    try:
        return Rules.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise UsageError(f"The rules {path} cannot be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not TOML: {error}") from error
    except ValidationError as error:
        raise UsageError(f"{path}: {first_problem(error)}") from error


TEMPLATE = """# Rules of this board. Change them before the first entry.
name = "{name}"
suite = ["lite"]               # suites or tasks; all of them count
editions = ["v1"]
seeds = 3                      # minimum
miniature = false
disclosures = ["retrieval", "trained_on_tasks", "closed_source"]

[budget]                       # maximum per run
time = "24h"

[sandbox]
backends = ["bubblewrap", "docker"]
sealed = true
network = false

[runs]
padding = true                 # unfinished runs count as failed
resumes = 10
forks = false
changes = false
light = false

[registration]
required = true
anchor_delay = "30m"           # maximum delay of the anchor of a start or an end
anchor_gap = "1h"              # maximum time between an event and its anchor; runs are anchored every 10m
abandoned = 0                  # maximum registrations of one plan that were neither accepted nor withdrawn
withdrawn = 2
"""
