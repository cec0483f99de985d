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

from podium.catalog.obfuscation import plain_id


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
        declared: names of tasks and suites anywhere in a text; `forge-graph-easy-10..19` stands for ten of them.
    """
    from podium.catalog import suites

    words = re.findall(r"[\w@-]+(?:\.\.\d+)?", declared)
    named = {*words, *(task for word in words if word in suites() for task in suites()[word].tasks)}
    ranges = [match.groups() for word in words if (match := re.fullmatch(r"(.+-t?)(\d+)\.\.(\d+)", word))]
    return [
        task
        for task in tasks
        if {task, plain_id(task)} & named or any(_is_in(plain_id(task), *limits) for limits in ranges)
    ]


def _is_in(task: str, stem: str, first: str, last: str) -> bool:
    number = task.removeprefix(stem)
    return task.startswith(stem) and number.isdecimal() and int(first) <= int(number) <= int(last)
