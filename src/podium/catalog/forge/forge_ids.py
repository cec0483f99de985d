"""Ids of forged tasks, and the questions that an id alone answers."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from podium.catalog.forge.families import FAMILIES, TINY_FAMILIES
from podium.errors import UnknownTaskError, UsageError

if TYPE_CHECKING:
    from podium.catalog.forge.secret import Secret

Difficulty = Literal["easy", "medium", "hard", "tiny"]
DIFFICULTIES: tuple[Difficulty, ...] = ("easy", "medium", "hard", "tiny")
MAX_SEED = 2**63 - 1


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
    known = difficulty
    if not isinstance(source, int):
        return ForgeId(family, known, None, source.commitment(f"{family} {difficulty}"))
    if not 0 <= source <= MAX_SEED:
        raise UsageError(f"A seed is a whole number from 0 to {MAX_SEED}, not {source}.")
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
