"""Forge: fresh competitions from a seed, so that no model can have seen them.

The id says it all: `forge-FAMILY-DIFFICULTY-SEED`. Preparing one draws its data, trains its field and writes both.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from podium.catalog.forge.families import FAMILIES, load_family
from podium.errors import UnknownTaskError, UsageError

if TYPE_CHECKING:
    from podium.catalog.forge.family import Difficulty
    from podium.task import Task

FIELDS = Path(__file__).parent / "fields"
DIFFICULTIES = ("easy", "medium", "hard")
LARGEST_SEED = 2**63 - 1
QUICK = tuple(f"forge-{family}-medium-{seed}" for seed, family in enumerate(FAMILIES, start=101))
"""The tasks of the suite `quick`; their fields were measured once and are stored in `fields/`."""


@dataclass(frozen=True)
class ForgeId:
    """The parts of a forged task's id."""

    family: str
    difficulty: Difficulty
    seed: int

    def __str__(self) -> str:
        return f"forge-{self.family}-{self.difficulty}-{self.seed}"


def forge_id(family: str, difficulty: str, seed: int) -> ForgeId:
    """A checked id."""
    if family not in FAMILIES:
        raise UnknownTaskError(f"There is no family '{family}'. The families are: {', '.join(FAMILIES)}")
    if difficulty not in DIFFICULTIES:
        raise UsageError(f"There is no difficulty '{difficulty}'. Use one of: {', '.join(DIFFICULTIES)}")
    if not 0 <= seed <= LARGEST_SEED:
        raise UsageError(f"A seed is a whole number from 0 to {LARGEST_SEED}, not {seed}.")
    return ForgeId(family, cast("Difficulty", difficulty), seed)


def parse_id(task_id: str) -> ForgeId:
    """The parts of an id such as `forge-graph-hard-7`."""
    match = re.fullmatch(r"forge-(.+)-([a-z]+)-(\d+)", task_id)
    if not match:
        raise UnknownTaskError(
            f"'{task_id}' is not a forged task's id. They look like forge-FAMILY-DIFFICULTY-SEED: "
            f"families {', '.join(FAMILIES)}; difficulties {', '.join(DIFFICULTIES)}."
        )
    return forge_id(match[1], match[2], int(match[3]))


def forged_task(task_id: str) -> Task:
    """The task an id stands for; its data is drawn when it is prepared."""
    from podium.catalog.forge.forged_data import write_forged_data
    from podium.task import Task

    parts = parse_id(task_id)
    family = load_family(parts.family)
    task = Task(
        id=str(parts),
        title=family.title,
        kind=family.kind,
        metric=family.metric,
        submission=family.submission,
        generated=True,
    )

    @task.prepare
    def prepare(raw: Path, public: Path, private: Path) -> None:
        write_forged_data(parts, public, private)

    return task


def stored_field(parts: ForgeId) -> str | None:
    """The text of the leaderboard measured earlier and kept in the repository, if there is one."""
    path = FIELDS / f"{parts}.json"
    return path.read_text(encoding="utf-8") if path.is_file() else None
