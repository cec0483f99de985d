"""Train/test splits: MLE-bench's splits of public training data, reproduced to the row."""

from __future__ import annotations

import random
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from podium.data.columns import BLANK, parse_times, time_format
from podium.tables.parse_numbers import to_numbers

RAW_ORDER = "Test rows stand in the order of the published table."
"""Caveat of tasks whose split, as in MLE-bench, keeps the raw order of rows."""
Items = TypeVar("Items", pd.DataFrame, list[Any])


def split_rows(
    items: Items, test_size: float, *, random_state: int = 0, stratify: pd.Series | None = None
) -> tuple[Items, Items]:
    """Return train and test part in scikit-learn's shuffled order, by a share or (as an integer) a number of rows.

    With fewer rows than that, as in a miniature, the test part is a tenth of them.

    Args:
        stratify: The class of each row, to keep the share of each class equal in both parts.
    """
    from sklearn.model_selection import train_test_split

    test_size = test_size if test_size < len(items) else 0.1
    train, test = train_test_split(items, test_size=test_size, random_state=random_state, stratify=stratify)
    return train, test


def split_in_order(table: pd.DataFrame, known_share: float) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the first `known_share` of the rows, and the rest, in their order."""
    count = int(len(table) * known_share)
    return table[:count], table[count:]


def split_values(
    table: pd.DataFrame, column: str, test_size: float, *, random_state: int = 0
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Split the distinct values of a column, in order of appearance; rows follow their value and keep their order."""
    _, test = split_rows(list(table[column].unique()), test_size, random_state=random_state)
    held = table[column].isin(test)
    return table[~held], table[held]


def split_groups(
    table: pd.DataFrame, column: str, test_size: float, *, random_state: int = 0
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Split the groups of a column, sorted by its value, and concatenate them in the order of the split."""
    groups = [group for _, group in table.groupby(column)]
    train, test = split_rows(groups, test_size, random_state=random_state)
    return pd.concat(train), pd.concat(test)


def split_whole_groups(
    table: pd.DataFrame, column: str, test_size: float, *, stratify: pd.Series | None = None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Put all rows with the same value of a column into the same part; a blank cell is a group of its own.

    Args:
        stratify: The class of each row; both parts get similar shares of each class, as the groups permit.
    """
    from sklearn.model_selection import StratifiedGroupKFold

    cells = table[column].astype(str)
    groups = cells.where(~cells.isin(BLANK), pd.Series([f"blank {row}" for row in range(len(table))], table.index))
    classes = pd.Series(0, index=table.index) if stratify is None else stratify
    parts = min(round(1 / test_size), groups.nunique())
    if parts < 2:
        return table, table.iloc[:0]
    folds = StratifiedGroupKFold(parts, shuffle=True, random_state=0)
    train, test = next(folds.split(table, classes, groups))
    order = np.random.default_rng(0)
    return table.iloc[order.permutation(train)], table.iloc[order.permutation(test)]


def split_later(table: pd.DataFrame, column: str, test_size: float) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Put the latest rows into the test part; rows of the same time stay together, rows without a time are in train.

    Args:
        column: A column of times, or of numbers that grow with time, such as years.
    """
    later = time_values(table[column]) >= time_cut(table[column], test_size)
    order = np.random.default_rng(0)
    parts = (order.permutation(np.flatnonzero(side)) for side in (~later, later))
    train, test = (table.iloc[part] for part in parts)
    return train, test


def time_cut(cells: pd.Series, test_size: float) -> float:
    """Return the time that separates about `test_size` of the rows from the earlier ones."""
    values = time_values(cells)
    moments, counts = np.unique(values[~np.isnan(values)], return_counts=True)
    shares = counts[::-1].cumsum()[::-1] / len(cells)
    return float(moments[np.argmin(np.abs(shares - test_size))])


def time_values(cells: pd.Series) -> np.ndarray:
    """Return times as increasing numbers; NaN for cells that are not times."""
    written = time_format(cells.astype(str))
    if written:
        return parse_times(cells.astype(str), written)
    return to_numbers(cells).to_numpy(float)


def split_per_category(
    items: Sequence[Any], categories: Iterable[Hashable], test_size: float, *, smallest: int = 5
) -> tuple[list[Any], list[Any]]:
    """Split each category separately, in order of appearance; the test part is shuffled at the end.

    A category of fewer than `smallest` items gives its last one to the test part; a single item stays in train.
    """
    members: dict[Hashable, list[Any]] = {}
    for item, category in zip(items, categories, strict=True):
        members.setdefault(category, []).append(item)
    train, test = [], []
    for group in members.values():
        if len(group) >= smallest:
            kept, held = split_rows(group, test_size)
        else:
            count = max(1, int(len(group) * test_size)) if len(group) > 1 else 0
            kept, held = group[: len(group) - count], group[len(group) - count :]
        train += kept
        test += held
    random.Random(0).shuffle(test)
    return train, test
