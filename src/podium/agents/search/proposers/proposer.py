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
    """Description of the task."""
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
    """Time limit in seconds of a script that is written now."""
    whole_numbers: bool = False
    """True if only whole numbers may be predicted."""
    gpus: int = 0
    packages: tuple[str, ...] = ()
    """Python packages that scripts may import, with their versions."""
    starter: str = ""
    """Program to improve, if the task has one."""

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
    """Script to try."""

    plan: str
    script: str
    time_s: float | None = None
    """Time limit; None for the search's own."""
    is_written: bool = True
    """False if the proposer failed to write a script; then the script only reports this."""


@dataclass(frozen=True)
class Review:
    """Review of a script that has run."""

    is_buggy: bool
    metric: float | None
    summary: str = ""
    validation: str = ""
    """Rows on which it was scored, if that differs between scripts. Only scores on the same rows are comparable."""
    is_fallback: bool = False
    """True if its submission is acceptable without a score, like the sample submission."""


class Proposer(Protocol):
    """Author and reviewer of scripts.

    A script is self-contained and runs in a folder of its own. It reads /home/data, writes `submission.csv` to its
    folder and prints `podium-metric: NUMBER`, its score on validation data by the task's metric. Its environment
    variables are PODIUM_SEED, PODIUM_SPLIT (a number that changes the validation split, 0 unless a score is being
    checked) and PODIUM_TIME_S (the time limit in seconds).
    """

    async def propose(self, operator: Operator, parents: Sequence[Node], tree: Tree) -> Proposal | None:
        """Return a script made by an operator from its parents (none for a draft), or None without an idea."""
        ...

    async def review(self, node: Node, result: ScriptResult) -> Review:
        """Return whether the script worked, and its score."""
        ...
