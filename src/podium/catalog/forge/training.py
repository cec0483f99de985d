"""Seeds for training: tasks drawn from them are never drawn from anything that agents are measured with.

The random numbers come from a hash of the seed under a name of its own. Public seeds are used as they are and secrets
are keys of another hash, so no seed or secret of theirs can lead to the data of a training task.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class TrainingSeed:
    """A number that one training task of each family and difficulty is drawn from."""

    number: int

    def generator(self, purpose: str) -> np.random.Generator:
        """The random numbers for a purpose."""
        digest = hashlib.sha256(f"podium forge training {self.number} {purpose}".encode()).digest()
        return np.random.default_rng(int.from_bytes(digest, "little"))


def trained_on(declared: str, tasks: Iterable[str]) -> list[str]:
    """Those of some tasks that somebody declares to have trained on.

    Args:
        declared: ids of tasks anywhere in a text; `forge-graph-easy-10..19` stands for ten of them.
    """
    words = re.findall(r"[\w@-]+(?:\.\.\d+)?", declared)
    named = {word for word in words if ".." not in word}
    ranges = [match.groups() for word in words if (match := re.fullmatch(r"(.+-t?)(\d+)\.\.(\d+)", word))]
    return [task for task in tasks if task in named or any(_is_in(task, *limits) for limits in ranges)]


def _is_in(task: str, stem: str, first: str, last: str) -> bool:
    number = task.removeprefix(stem)
    return task.startswith(stem) and number.isdecimal() and int(first) <= int(number) <= int(last)
