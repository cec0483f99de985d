"""Populations: the entities, their relations and their true values, before anything is recorded.

Rows belong to parents, parents lie in regions and have records of their own. Numbers are drawn along a random causal
graph: each may depend on some that were drawn before it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from podium.catalog.forge.world.corruption import drifting
from podium.catalog.forge.world.expressions import SHAPES, standardised
from podium.catalog.forge.world.vocabulary import Domain, Quantity

RECORDS_PER_PARENT = (4, 12)


@dataclass(frozen=True)
class Parent:
    """Kind of entity that several rows belong to."""

    name: str
    member: np.ndarray
    """Which of them each row belongs to."""
    count: int
    numbers: Mapping[str, np.ndarray]
    """Facts about each of them, mean 0 and spread 1."""
    region: np.ndarray


@dataclass(frozen=True)
class Records:
    """Repeated measurements of the entities of one kind."""

    owner: np.ndarray
    """Which of them a record is about."""
    day: np.ndarray
    value: np.ndarray


@dataclass(frozen=True)
class Population:
    """True values, row by row."""

    day: np.ndarray
    """Days since the beginning, with fractions."""
    numbers: Mapping[str, np.ndarray]
    """Facts about each row that will be recorded, mean 0 and spread 1."""
    hidden: Mapping[str, np.ndarray]
    """Facts that no column holds: remarks, blanks and records tell of them."""
    categories: Mapping[str, np.ndarray]
    """The number of each row's category."""
    parents: tuple[Parent, ...]
    records: Records
    """About the things of the first kind."""

    def everything(self) -> dict[str, np.ndarray]:
        """Return all numbers of the rows by name, those of parents and hidden ones included."""
        above = {name: values[parent.member] for parent in self.parents for name, values in parent.numbers.items()}
        return {**self.numbers, **above, **self.hidden}

    def groups(self) -> dict[str, np.ndarray]:
        """Return all groupings of the rows: categories, parents and regions."""
        above = {parent.name: parent.member for parent in self.parents}
        return {**self.categories, **above, "region": self.parents[0].region[self.parents[0].member]}


def draw_population(rng: np.random.Generator, domain: Domain, rows: int, *, days: int) -> Population:
    """Draw the parents first, then the rows and their records."""
    counts = [max(6, int(rows / rng.uniform(14, 40))), int(rng.integers(8, 9 + rows // 60))]
    kinds = zip(domain.parents, counts, domain.parent_numbers, strict=True)
    parents = tuple(_draw_parent(rng, noun.one, count, _some(rng, known, 2), rows) for noun, count, known in kinds)
    day = np.sort(rng.uniform(0, days, rows))
    level, spread = rng.normal(size=counts[0]), rng.normal(size=counts[0])
    above = {name: values[parent.member] for parent in parents for name, values in parent.numbers.items()}
    chosen = _some(rng, domain.numbers, int(rng.integers(5, 8)))
    drawn = _draw_causes(rng, chosen, above)
    drawn[chosen[-1]] = standardised(drifting(rng, drawn[chosen[-1]], day / days))
    member = parents[0].member
    hidden = {"level of records": level[member], "spread of records": spread[member]}
    hidden |= {f"condition {number}": (rng.random(rows) < rng.uniform(0.15, 0.4)) * 1.0 for number in (1, 2)}
    hidden["strain"] = standardised(0.5 * drawn[chosen[0]] + rng.normal(size=rows))
    return Population(
        day, drawn, hidden, _draw_categories(rng, domain, rows), parents, _draw_records(rng, level, spread, days)
    )


def _some(rng: np.random.Generator, quantities: Sequence[Quantity], count: int) -> list[str]:
    return [quantities[index].name for index in rng.permutation(len(quantities))[:count]]


def _draw_parent(rng: np.random.Generator, name: str, count: int, numbers: list[str], rows: int) -> Parent:
    """Draw the parent of each row; some parents have many more rows than others."""
    member = np.minimum((count * rng.beta(0.8, 1.5, rows)).astype(int), count - 1)
    region = rng.integers(0, int(rng.integers(4, 9)), count)
    facts = {number: rng.normal(size=count) for number in numbers}
    return Parent(name, rng.permutation(count)[member], count, facts, region)


def _draw_causes(rng: np.random.Generator, names: list[str], above: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Draw numbers of rows, each caused by at most two of the earlier ones."""
    rows = len(next(iter(above.values())))
    known = dict(above)
    for name in names:
        values = rng.normal(size=rows)
        for cause in rng.permutation(list(known))[: int(rng.integers(0, 3))]:
            shape = SHAPES[str(rng.choice(list(SHAPES)))]
            values = values + rng.uniform(0.3, 0.9) * rng.choice([-1, 1]) * shape(rng, known[str(cause)])
        known[name] = standardised(values)
    return {name: known[name] for name in names}


def _draw_categories(rng: np.random.Generator, domain: Domain, rows: int) -> dict[str, np.ndarray]:
    """Draw categories, some much more frequent than others."""
    shares = {name: rng.dirichlet(np.full(len(values), 1.5)) for name, values in domain.categories.items()}
    return {name: rng.choice(len(share), rows, p=share) for name, share in shares.items()}


def _draw_records(rng: np.random.Generator, level: np.ndarray, spread: np.ndarray, days: int) -> Records:
    counts = rng.integers(*RECORDS_PER_PARENT, len(level))
    owner = np.repeat(np.arange(len(level)), counts)
    noise = rng.normal(size=len(owner)) * 0.5 * np.exp(0.5 * spread[owner])
    return Records(owner, rng.uniform(0, days, len(owner)), level[owner] + noise)
