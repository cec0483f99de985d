"""Tasks of a training run: named ones, or an endless sequence of new training tasks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count

from podium.catalog.forge.families import TINY_FAMILIES
from podium.catalog.forge.forge_ids import forge_id
from podium.catalog.registry import expand


def training_task(seed: int, families: Sequence[str] = TINY_FAMILIES, difficulty: str = "tiny") -> str:
    """Return the id of a training task; consecutive seeds cycle through the families."""
    return str(forge_id(families[seed % len(families)], difficulty, seed, training=True))


def training_tasks(
    tasks: Sequence[str] = (), *, families: Sequence[str] = TINY_FAMILIES, difficulty: str = "tiny", first_seed: int = 0
) -> Iterator[str]:
    """Return the tasks in `tasks`, which may name suites; without any, endless training tasks from `first_seed`."""
    if tasks:
        return iter(expand(list(tasks)))
    return (training_task(seed, families, difficulty) for seed in count(first_seed))
