"""Mechanism of a task, which is hidden: some terms of the grammar with a weight each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from podium.catalog.forge.world.expressions import Facts, Term, draw_term, standardised


@dataclass(frozen=True)
class Mechanism:
    """Weighted sum of terms."""

    terms: tuple[Term, ...]
    weights: tuple[float, ...]

    @property
    def signal(self) -> np.ndarray:
        """Return the signal of every row, with mean 0 and standard deviation 1."""
        return standardised(sum(w * term.values for w, term in zip(self.weights, self.terms, strict=True)))  # type: ignore[arg-type]


def draw_mechanism(rng: np.random.Generator, facts: Facts, *, terms: int, always: tuple[Term, ...] = ()) -> Mechanism:
    """Draw a mechanism of distinct terms, with those that every task of a family has."""
    drawn = list(always)
    while len(drawn) < terms:
        term = draw_term(rng, facts)
        if term.values.any() and term.formula not in {other.formula for other in drawn}:
            drawn.append(term)
    weights = rng.uniform(0.5, 1.2, len(drawn)) * rng.choice([-1.0, 1.0], len(drawn))
    return Mechanism(tuple(drawn), tuple(float(weight) for weight in weights))
