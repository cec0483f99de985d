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
    """Parts of a forged task's id."""

    family: str
    difficulty: Difficulty
    seed: int | None
    """Public seed; None if the data is drawn from a secret."""
    commitment: str = ""
    """Hash of the secret."""
    training: bool = False
    """True for a training seed."""

    def __str__(self) -> str:
        source = f"x{self.commitment}" if self.seed is None else f"{'t' * self.training}{self.seed}"
        return f"forge-{self.family}-{self.difficulty}-{source}"

    @property
    def is_secret(self) -> bool:
        """True if the answers cannot be made from the id."""
        return self.seed is None

    @property
    def words(self) -> int:
        """Seed of the drawn story and of all names.

        It comes from the id, because the names of a submission's columns must be known without the secret. The secret,
        from which everything else is drawn, cannot be derived from it.
        """
        return int.from_bytes(hashlib.sha256(f"podium forge words {self}".encode()).digest(), "little")


def forge_id(family: str, difficulty: str, source: int | Secret, *, training: bool = False) -> ForgeId:
    """Return the checked id of a task from a public seed or a secret.

    Args:
        training: True for a training seed.
    """
    if family not in FAMILIES:
        raise UnknownTaskError(f"There is no family '{family}'. The families are: {', '.join(FAMILIES)}")
    if difficulty not in DIFFICULTIES:
        raise UsageError(f"There is no difficulty '{difficulty}'. Use one of: {', '.join(DIFFICULTIES)}")
    if difficulty == "tiny" and family not in TINY_FAMILIES:
        raise UsageError(f"The family '{family}' has no tiny tasks. The families that do: {', '.join(TINY_FAMILIES)}")
    known = difficulty
    if not isinstance(source, int):
        return ForgeId(family, known, None, source.commitment(f"{family} {difficulty}"))
    if not 0 <= source <= MAX_SEED:
        raise UsageError(f"The seed must be a whole number from 0 to {MAX_SEED}, not {source}.")
    return ForgeId(family, known, source, training=training)


def parse_id(task_id: str) -> ForgeId:
    """Parse an id such as `forge-graph-hard-7`."""
    match = re.fullmatch(r"forge-(.+)-([a-z]+)-(t?\d+|x[a-z2-7]{26})", task_id)
    if not match:
        raise UnknownTaskError(
            f"'{task_id}' is not the id of a forged task. Such ids have the form forge-FAMILY-DIFFICULTY-xHASH, "
            f"-SEED or -tSEED. Families: {', '.join(FAMILIES)}. Difficulties: {', '.join(DIFFICULTIES)}."
        )
    family, difficulty, source = match.groups()
    if not source.startswith("x"):
        return forge_id(family, difficulty, int(source.removeprefix("t")), training=source.startswith("t"))
    return replace(forge_id(family, difficulty, 0), seed=None, commitment=source[1:])


def is_training_task(task_id: str) -> bool:
    """Return whether a task is made for training, and so never used to measure an agent."""
    return re.fullmatch(r"forge-.+-t\d+", task_id) is not None


def has_public_seed(task_id: str) -> bool:
    """Return whether an id is that of a forged task and suffices to make its answers."""
    return re.fullmatch(r"forge-.+-t?\d+", task_id) is not None
