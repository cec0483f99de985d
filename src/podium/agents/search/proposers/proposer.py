"""Interface between a search and the author of its scripts: a language model, or the library of recipes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Protocol

from podium.agents.base import Remaining
from podium.agents.search.search_tree import Node, Operator, Tree
from podium.tables.profile import Profile
from podium.tables.profile_task import profile_task
from podium.task import Metric
from podium.workspace.journal.observations import ScriptResult


@dataclass(frozen=True)
class Context:
    """A proposer's view of its task."""

    brief: str
    """The task's description."""
    public: Path
    """The public data on the host, for inspection; scripts read /home/data."""
    metric: Metric
    sample: str
    """Name of the sample submission among the public files."""
    ids: tuple[str, ...]
    targets: tuple[str, ...]
    seed: int
    cores: int
    remaining: Callable[[], Remaining]
    script_time: Callable[[], float | None] = lambda: None
    """Seconds that a script written now may take."""
    whole_numbers: bool = False
    """Whether only whole numbers may be predicted."""
    gpus: int = 0
    packages: tuple[str, ...] = ()
    """Python packages that scripts may import, with their versions."""
    starter: str = ""
    """The program to improve, where the task gives one."""

    @cached_property
    def profile(self) -> Profile:
        """Profile of the public data, with the names of the installed packages."""
        profile = profile_task(
            self.public,
            brief=self.brief,
            metric=self.metric,
            sample=self.sample,
            ids=self.ids,
            targets=self.targets,
        )
        return replace(profile, packages=frozenset(package.partition(" ")[0] for package in self.packages))


@dataclass(frozen=True)
class Proposal:
    """A script to try."""

    plan: str
    script: str
    time_s: float | None = None
    """Time limit; None for the search's own."""
    is_written: bool = True
    """False if the proposer failed to write a script; then the script only reports this."""


@dataclass(frozen=True)
class Review:
    """A verdict on a script that has run."""

    is_buggy: bool
    metric: float | None
    summary: str = ""
    validation: str = ""
    """On what it was scored, where that differs between scripts; only scores of the same validation compare."""
    is_fallback: bool = False
    """Whether its submission will do although it has no score, as the sample submission does until there is better."""


class Proposer(Protocol):
    """Writes scripts and judges what they print.

    A script stands alone and runs in a folder of its own. It reads /home/data, writes `submission.csv` into its folder
    and prints `podium-metric: NUMBER`, its score on validation data, by the task's metric. The environment tells it
    PODIUM_SEED, PODIUM_SPLIT (a number that changes the validation split, 0 unless a score is being checked) and
    PODIUM_TIME_S, the seconds it may take.
    """

    async def propose(self, operator: Operator, parents: Sequence[Node], tree: Tree) -> Proposal | None:
        """A script made by an operator from its parents (none for a draft); None if nothing comes to mind."""
        ...

    async def review(self, node: Node, result: ScriptResult) -> Review:
        """Whether the script worked, and its score."""
        ...
