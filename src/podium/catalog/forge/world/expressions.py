"""Grammar of mechanisms: the possible terms, and how one is drawn.

    term      = shape(atom) | shape(atom) * shape(atom) | shape(atom) by group | level of group | level of two groups
              | wave of time | regime: one term before a moment, another after it | previous value in the group
    atom      = number | ratio of two numbers | number relative to its group's mean
    shape     = line | saturation | threshold | optimum | bend

So the structure of a task, not only its parameters, comes from its seed. A term is identified by its formula.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

PERIODS = {"day": 1.0, "week": 7.0, "fortnight": 14.0, "month": 30.44, "year": 365.25}
MAX_CATEGORIES = 12
"""Largest number of categories of a group that takes part in combinations."""


@dataclass(frozen=True)
class Facts:
    """Inputs of the terms, row by row."""

    numbers: Mapping[str, np.ndarray]
    groups: Mapping[str, np.ndarray]
    """The number of each row's category."""
    day: np.ndarray


@dataclass(frozen=True)
class Term:
    """Part of a mechanism."""

    formula: str
    values: np.ndarray
    """Value for every row, with mean 0 and standard deviation 1."""


def standardised(values: np.ndarray) -> np.ndarray:
    """Scale to mean 0 and standard deviation 1; a constant, also up to rounding, becomes 0."""
    spread = float(values.std())
    return np.asarray((values - values.mean()) / spread if spread > 1e-9 else np.zeros_like(values, dtype=float))


Shape = Callable[[np.random.Generator, np.ndarray], np.ndarray]


def line(rng: np.random.Generator, values: np.ndarray) -> np.ndarray:
    return values


def saturation(rng: np.random.Generator, values: np.ndarray) -> np.ndarray:
    return np.tanh(rng.uniform(1.2, 2.5) * (values - rng.uniform(-0.8, 0.8)))


def threshold(rng: np.random.Generator, values: np.ndarray) -> np.ndarray:
    return np.asarray(values > np.quantile(values, rng.uniform(0.25, 0.75)), dtype=float)


def optimum(rng: np.random.Generator, values: np.ndarray) -> np.ndarray:
    return np.exp(-((values - rng.uniform(-0.7, 0.7)) ** 2) / rng.uniform(0.3, 1.2))


def bend(rng: np.random.Generator, values: np.ndarray) -> np.ndarray:
    return np.maximum(values - rng.uniform(-0.6, 0.6), 0)


SHAPES: Mapping[str, Shape] = {
    "line": line,
    "saturation": saturation,
    "threshold": threshold,
    "optimum": optimum,
    "bend": bend,
}


def _pick(rng: np.random.Generator, names: Iterable[str], count: int = 1) -> list[str]:
    return [str(name) for name in rng.choice(list(names), count, replace=False)]


def _shaped(rng: np.random.Generator, atom: Term) -> Term:
    name = _pick(rng, SHAPES)[0]
    return Term(f"{name}({atom.formula})", standardised(SHAPES[name](rng, atom.values)))


def draw_atom(rng: np.random.Generator, facts: Facts) -> Term:
    """Draw a number, mostly unchanged."""
    (name,) = _pick(rng, facts.numbers)
    kind = rng.random()
    if kind < 0.6:
        return Term(name, facts.numbers[name])
    if kind < 0.8:
        other, below = _pick(rng, facts.numbers, 2)
        return Term(f"{other} / {below}", standardised(facts.numbers[other] - facts.numbers[below]))
    (group,) = _pick(rng, facts.groups)
    return Term(f"{name} relative to {group}", standardised(_less_mean(facts.numbers[name], facts.groups[group])))


def _less_mean(values: np.ndarray, group: np.ndarray) -> np.ndarray:
    sums, counts = np.bincount(group, weights=values), np.bincount(group)
    return np.asarray(values - (sums / np.maximum(counts, 1))[group])


def effect(rng: np.random.Generator, facts: Facts) -> Term:
    """Draw one shaped atom."""
    return _shaped(rng, draw_atom(rng, facts))


def interaction(rng: np.random.Generator, facts: Facts) -> Term:
    """Draw two shaped atoms that matter only together."""
    one, other = effect(rng, facts), effect(rng, facts)
    return Term(f"{one.formula} * {other.formula}", standardised(one.values * other.values))


def group_effect(rng: np.random.Generator, facts: Facts) -> Term:
    """Draw a level for every category of a group."""
    (group,) = _pick(rng, facts.groups)
    codes = facts.groups[group]
    return Term(f"level of {group}", standardised(rng.normal(size=codes.max() + 1)[codes]))


def pair_effect(rng: np.random.Generator, facts: Facts) -> Term:
    """Draw a level for every combination of two groups."""
    sizes = {name: codes.max() + 1 for name, codes in facts.groups.items()}
    small = {name: codes for name, codes in facts.groups.items() if sizes[name] <= MAX_CATEGORIES}
    one, other = _pick(rng, small, 2)
    levels = rng.normal(size=(sizes[one], sizes[other]))
    return Term(f"level of {one} and {other}", standardised(levels[facts.groups[one], facts.groups[other]]))


def group_slope(rng: np.random.Generator, facts: Facts) -> Term:
    """Draw an effect whose size and sign depend on a group."""
    inner, (group,) = effect(rng, facts), _pick(rng, facts.groups)
    codes = facts.groups[group]
    slopes = rng.normal(size=codes.max() + 1)
    return Term(f"{inner.formula} by {group}", standardised(inner.values * slopes[codes]))


def wave(rng: np.random.Generator, facts: Facts) -> Term:
    """Draw a seasonal effect."""
    span = facts.day[-1] - facts.day[0]
    fitting = [name for name, days in PERIODS.items() if days <= span]
    period = str(rng.choice(fitting))
    angle = 2 * np.pi * (facts.day / PERIODS[period] + rng.random())
    return Term(f"wave of the {period}", standardised(np.sin(angle) + 0.5 * rng.choice([-1, 1]) * np.sin(2 * angle)))


def regime(rng: np.random.Generator, facts: Facts) -> Term:
    """Draw an effect that is replaced by another on some day."""
    before, after = effect(rng, facts), effect(rng, facts)
    change = np.quantile(facts.day, rng.uniform(0.3, 0.7))
    values = np.where(facts.day < change, before.values, after.values)
    return Term(f"{before.formula} until a day, then {after.formula}", standardised(values))


def lag(rng: np.random.Generator, facts: Facts) -> Term:
    """Return the value of the previous row in the same group; rows are in order of time."""
    (name,), (group,) = _pick(rng, facts.numbers), _pick(rng, facts.groups)
    order = np.lexsort((facts.day, facts.groups[group]))
    values, codes = facts.numbers[name][order], facts.groups[group][order]
    previous = np.zeros(len(values))
    previous[1:] = np.where(codes[1:] == codes[:-1], values[:-1], 0.0)
    back = np.empty_like(previous)
    back[order] = previous
    return _shaped(rng, Term(f"previous {name} of {group}", standardised(back)))


Production = Callable[[np.random.Generator, Facts], Term]
PRODUCTIONS: Mapping[str, tuple[Production, float]] = {
    "effect": (effect, 2.0),
    "interaction": (interaction, 2.0),
    "group": (group_effect, 1.5),
    "pair": (pair_effect, 1.0),
    "slope": (group_slope, 1.5),
    "wave": (wave, 1.0),
    "regime": (regime, 1.0),
    "lag": (lag, 0.7),
}
"""Constructors of terms, with their weights."""


def draw_term(rng: np.random.Generator, facts: Facts) -> Term:
    """Draw a term of the grammar."""
    weights = np.array([weight for _, weight in PRODUCTIONS.values()])
    name = str(rng.choice(list(PRODUCTIONS), p=weights / weights.sum()))
    return PRODUCTIONS[name][0](rng, facts)
