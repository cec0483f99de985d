"""Which tasks a training run has: named ones, or fresh training tasks without end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count

from podium.catalog import expand
from podium.catalog.forge.families import TINY_FAMILIES
from podium.catalog.forge.forge_ids import forge_id


def training_task(seed: int, families: Sequence[str] = TINY_FAMILIES, difficulty: str = "tiny") -> str:
    """The id of a training task; seeds go through the families in turn."""
    return str(forge_id(families[seed % len(families)], difficulty, seed, training=True))


def training_tasks(
    tasks: Sequence[str] = (), *, families: Sequence[str] = TINY_FAMILIES, difficulty: str = "tiny", first_seed: int = 0
) -> Iterator[str]:
    """The tasks and suites that were named, or if none was, training tasks of some families from a first seed on."""
    if tasks:
        return iter(expand(list(tasks)))
    return (training_task(seed, families, difficulty) for seed in count(first_seed))
