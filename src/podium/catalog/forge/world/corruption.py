"""Damage between the true values and the recorded ones.

Each function does one kind of damage and describes it in a sentence where an honest brief would: briefs mention units,
repeated rows and forbidden columns; the cause of blank cells is left to the competitors.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from podium.catalog.forge.world.vocabulary import Quantity

OTHER_UNITS = {
    "kg": ("lb", 2.2046),
    "km": ("mi", 0.62137),
    "m": ("ft", 3.2808),
    "cm": ("in", 0.3937),
    "l": ("pt", 1.7598),
}


def recorded_values(quantity: Quantity, facts: np.ndarray) -> np.ndarray:
    """Convert facts of mean 0 and standard deviation 1 to values of a quantity, with a usual number of digits.

    Quantities that span more than a factor of ten spread on a logarithmic scale.
    """
    share = np.clip((facts + 2) / 4, -0.25, 1.25)
    if quantity.low > 0 and quantity.high / quantity.low > 10:
        values = quantity.low * (quantity.high / quantity.low) ** share
    else:
        values = quantity.low + (quantity.high - quantity.low) * share
    digits = max(0, 3 - int(np.floor(np.log10(quantity.high - quantity.low))))
    return np.asarray(np.round(values if quantity.low < 0 else np.maximum(values, 0), min(digits, 3)))


def blank_by_hidden(rng: np.random.Generator, column: pd.Series, hidden: np.ndarray, share: float) -> pd.Series:
    """Return blanks that are likelier where a hidden fact is large, so that a blank is informative."""
    chance = 1 / (1 + np.exp(-2.5 * (hidden - np.quantile(hidden, 1 - share))))
    return column.mask(rng.random(len(column)) < chance)


def change_unit(
    rng: np.random.Generator, column: pd.Series, group: pd.Series, unit: str
) -> tuple[pd.Series, tuple[str, str]]:
    """Convert the values of some categories of a group to another unit; return them with the categories and the
    unit.
    """
    categories = sorted(group.dropna().unique())
    chosen = rng.choice(categories, max(1, len(categories) // 3), replace=False)
    other, factor = OTHER_UNITS.get(unit, (f"tenths of {unit}", 10.0))
    converted = column.where(~group.isin(chosen), (column * factor).round(3))
    return converted, (", ".join(f"`{name}`" for name in sorted(chosen)), other)


def repeat_rows(rng: np.random.Generator, table: pd.DataFrame, share: float) -> pd.DataFrame:
    """Return the table with some rows entered twice, at random places."""
    twice = rng.choice(len(table), max(1, int(share * len(table))), replace=False)
    order = np.sort(np.concatenate([np.arange(len(table)), twice]))
    return table.iloc[order].reset_index(drop=True)


def nested_codes(rng: np.random.Generator, *parts: np.ndarray) -> np.ndarray:
    """Return several groups, from the widest to the narrowest, as one code such as `K3-07B`."""
    letters = rng.permutation(list("ABCDEFGHJKLMNPQRSTUVWXYZ"))
    first, *others = parts
    codes = letters[first % len(letters)].astype(object)
    for position, part in enumerate(others):
        numbers = (rng.permutation(part.max() + 1) + 1)[part]
        codes = codes + np.array([f"{'-' * (position > 0)}{number:02d}" for number in numbers], dtype=object)
    return np.asarray(codes)


def free_text(rng: np.random.Generator, conditions: Sequence[np.ndarray], phrases: Sequence[str]) -> np.ndarray:
    """Return a remark for every row; the first phrases, two for each condition, are used mostly where it holds."""
    lines: list[list[str]] = [[] for _ in conditions[0]]
    for number, condition in enumerate(conditions):
        said = rng.random(len(condition)) < np.where(condition > 0, 0.8, 0.04)
        which = rng.integers(0, 2, len(condition)) + 2 * number
        for row in np.flatnonzero(said):
            lines[row].append(phrases[which[row]])
    idle = phrases[2 * len(conditions) :]
    chatter = rng.integers(0, 2 * len(idle), len(lines))
    order = rng.random(len(lines)) < 0.5
    for line, first, phrase in zip(lines, order, chatter, strict=True):
        if phrase < len(idle):
            line.insert(0 if first else len(line), idle[phrase])
    return np.array(["; ".join(line) for line in lines], dtype=object)


def leaked(rng: np.random.Generator, target: np.ndarray) -> np.ndarray:
    """Return a leaked column, recorded after the fact: the rank of the target with a little noise."""
    rank = target.argsort(kind="stable").argsort(kind="stable") / len(target)
    return np.asarray(np.round(100 * (rank + rng.normal(0, 0.08, len(target))), 1))


def drifting(rng: np.random.Generator, values: np.ndarray, progress: np.ndarray) -> np.ndarray:
    """Return values that drift over time, so that test rows, which come later, differ from train rows."""
    return np.asarray(values + rng.choice([-1, 1]) * rng.uniform(0.4, 0.9) * progress)


def misspelt(rng: np.random.Generator, texts: Sequence[str], share: float) -> list[str]:
    """Return texts with typing errors: a share of the letters is dropped, doubled or replaced by a neighbour."""
    damaged = []
    for text in texts:
        kind = np.where(rng.random(len(text)) < share, rng.integers(1, 4, len(text)), 0)
        typed = zip(text, kind.tolist(), strict=True)
        damaged.append("".join((letter, "", letter * 2, chr(ord(letter) ^ 1))[slip] for letter, slip in typed))
    return damaged
