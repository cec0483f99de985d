"""Forge: fresh competitions, so that no model can have seen them.

Those to measure with are drawn from a secret, to which the id commits: `forge-FAMILY-DIFFICULTY-xHASH`. Those to try
things with are drawn from a public seed: `forge-FAMILY-DIFFICULTY-SEED` says all that is needed to make their answers.
Those to train with are drawn from seeds of their own: `forge-FAMILY-DIFFICULTY-tSEED`; nobody is measured with them.
Preparing one draws its data, trains its field and writes both.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from podium.catalog.forge.families import FAMILIES, FIXED_FAMILIES, TINY_FAMILIES, load_family
from podium.errors import UnknownTaskError, UsageError

if TYPE_CHECKING:
    from podium.catalog.forge.family import Difficulty
    from podium.catalog.forge.field import Source
    from podium.catalog.forge.secret import Secret
    from podium.task import Task

FIELDS = Path(__file__).parent / "fields"
DIFFICULTIES = ("easy", "medium", "hard", "tiny")
LARGEST_SEED = 2**63 - 1
QUICK = tuple(f"forge-{family}-medium-{seed}" for seed, family in enumerate(FIXED_FAMILIES, start=101))
"""The tasks of the suite `quick`; their fields were measured once and are stored in `fields/`."""


@dataclass(frozen=True)
class ForgeId:
    """The parts of a forged task's id."""

    family: str
    difficulty: Difficulty
    seed: int | None
    """The public seed, where the data is not drawn from a secret."""
    commitment: str = ""
    """The hash of the secret."""
    training: bool = False
    """Whether the seed is one for training."""

    def __str__(self) -> str:
        source = f"x{self.commitment}" if self.seed is None else f"{'t' * self.training}{self.seed}"
        return f"forge-{self.family}-{self.difficulty}-{source}"

    @property
    def is_secret(self) -> bool:
        """Whether the id does not tell how to make the answers."""
        return self.seed is None

    @property
    def words(self) -> int:
        """What a drawn story and all names are drawn from.

        It comes from the id, because whoever has a task must know the names of a submission's columns. The secret, from
        which everything else is drawn, cannot be told from it.
        """
        return int.from_bytes(hashlib.sha256(f"podium forge words {self}".encode()).digest(), "little")

    def source(self) -> Source:
        """What the data is drawn from; a secret is looked up in the data home."""
        from podium.catalog.forge.secret import kept_secret
        from podium.catalog.forge.training import TrainingSeed

        if self.seed is None:
            return kept_secret(self)
        return TrainingSeed(self.seed) if self.training else self.seed


def forge_id(family: str, difficulty: str, source: int | Secret, *, training: bool = False) -> ForgeId:
    """The checked id of what is drawn from a public seed or a secret.

    Args:
        training: whether the seed is one for training.
    """
    if family not in FAMILIES:
        raise UnknownTaskError(f"There is no family '{family}'. The families are: {', '.join(FAMILIES)}")
    if difficulty not in DIFFICULTIES:
        raise UsageError(f"There is no difficulty '{difficulty}'. Use one of: {', '.join(DIFFICULTIES)}")
    if difficulty == "tiny" and family not in TINY_FAMILIES:
        raise UsageError(f"There are no tiny tasks of '{family}'. The families with some: {', '.join(TINY_FAMILIES)}")
    known = cast("Difficulty", difficulty)
    if not isinstance(source, int):
        return ForgeId(family, known, None, source.commitment(f"{family} {difficulty}"))
    if not 0 <= source <= LARGEST_SEED:
        raise UsageError(f"A seed is a whole number from 0 to {LARGEST_SEED}, not {source}.")
    return ForgeId(family, known, source, training=training)


def parse_id(task_id: str) -> ForgeId:
    """The parts of an id such as `forge-graph-hard-7`."""
    match = re.fullmatch(r"forge-(.+)-([a-z]+)-(t?\d+|x[a-z2-7]{26})", task_id)
    if not match:
        raise UnknownTaskError(
            f"'{task_id}' is not a forged task's id. They look like forge-FAMILY-DIFFICULTY-xHASH, -SEED or -tSEED: "
            f"families {', '.join(FAMILIES)}; difficulties {', '.join(DIFFICULTIES)}."
        )
    family, difficulty, source = match.groups()
    if not source.startswith("x"):
        return forge_id(family, difficulty, int(source.removeprefix("t")), training=source.startswith("t"))
    return replace(forge_id(family, difficulty, 0), seed=None, commitment=source[1:])


def is_training_task(task_id: str) -> bool:
    """Whether a task is made for training: then it is never used to measure an agent."""
    return re.fullmatch(r"forge-.+-t\d+", task_id) is not None


def is_public_draw(task_id: str) -> bool:
    """Whether an id is that of a forged task and all that is needed to make its answers."""
    return re.fullmatch(r"forge-.+-t?\d+", task_id) is not None


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
        submission=family.form(parts.words),
        generated=True,
        time_s=600.0,
    )

    @task.prepare
    def prepare(raw: Path, public: Path, private: Path) -> None:
        write_forged_data(parts, public, private)

    return task


def stored_field(parts: ForgeId) -> str | None:
    """The text of the leaderboard measured earlier and kept in the repository, if there is one."""
    path = FIELDS / f"{parts}.json"
    return path.read_text(encoding="utf-8") if path.is_file() else None
