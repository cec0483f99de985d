"""The cooperative's log as arrays, and what can be read from it: fashions, tastes, habits, similarity."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from podium.catalog.forge.families.ranking_data import MONTHS, SHELVES, YEAR, months_of
from podium.catalog.forge.family import PublicData


def best_ten(scores: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """The ten items with the highest scores in each row, as text."""
    best = np.argsort(-scores, axis=1, kind="stable")[:, :10]
    return np.array([" ".join(row) for row in codes[best]], dtype=object)


@dataclass(frozen=True)
class MemberHistory:
    """History up to a month; members are rows and items columns."""

    orders: np.ndarray
    """Months by members by items."""
    looks: np.ndarray
    shelf: np.ndarray
    grower: np.ndarray
    plot: np.ndarray
    district: np.ndarray
    price: np.ndarray
    """On a logarithmic scale."""
    asked: np.ndarray
    """The rows of the members to predict for."""
    codes: np.ndarray

    @property
    def counts(self) -> np.ndarray:
        """Number of times each member looked at or ordered each item."""
        return np.asarray((self.orders + self.looks).sum(axis=0))

    @property
    def curious(self) -> np.ndarray:
        """Items that were looked at but not ordered in the last month."""
        return np.asarray(self.looks[-1] * (1 - self.orders[-1]))

    def until(self, month: int) -> MemberHistory:
        """Return the history as it was at the beginning of a month."""
        return replace(self, orders=self.orders[:month], looks=self.looks[:month])

    def best_ten(self, scores: np.ndarray) -> np.ndarray:
        """The lists of the members asked for, from scores of all members or the same for all."""
        return best_ten(np.broadcast_to(scores, self.orders.shape[1:])[self.asked], self.codes)


def read_history(data: PublicData) -> MemberHistory:
    """The public tables as arrays."""
    items, members = data.tables["items.csv"], data.tables["members.csv"]
    rows = pd.Index(members["member"])
    months, columns = months_of(data.train["date"]), pd.Index(items["item"])
    place = (months, rows.get_indexer(data.train["member"]), columns.get_indexer(data.train["item"]))
    ordered = (data.train["kind"] == "ordered").to_numpy()
    orders, looks = np.zeros((2, MONTHS, len(members), len(items)), dtype=np.float32)
    orders[tuple(axis[ordered] for axis in place)] = 1
    looks[tuple(axis[~ordered] for axis in place)] = 1
    groups = {name: pd.Categorical(items[name]).codes.astype(int) for name in ("shelf", "grower")}
    groups |= {name: pd.Categorical(members[name]).codes.astype(int) for name in ("plot", "district")}
    return MemberHistory(
        orders=orders,
        looks=looks,
        price=np.log(items["price"].to_numpy()),
        asked=rows.get_indexer(data.test["member"]),
        codes=items["item"].to_numpy(),
        **groups,
    )


def faded(cube: np.ndarray, half_life: float) -> np.ndarray:
    """The sum over months, of which the last counts fully and earlier ones less and less."""
    weights = 0.5 ** (np.arange(len(cube))[::-1] / half_life)
    return np.asarray((weights.astype(np.float32) @ cube.reshape(len(cube), -1)).reshape(cube.shape[1:]))


def trend(history: MemberHistory, half_life: float) -> np.ndarray:
    """Log popularity of late."""
    return np.asarray(np.log(faded(history.orders, half_life).mean(axis=0) + 1e-3))


def forecast(history: MemberHistory) -> np.ndarray:
    """Log popularity in the month to come: a yearly wave through each item's past, and how far off it was of late."""
    counts = (history.orders + 0.5 * history.looks).sum(axis=1)
    angle = 2 * np.pi * np.arange(len(counts) + 1) / YEAR
    waves = np.stack([np.ones_like(angle), np.cos(angle), np.sin(angle)], axis=1)
    known, logs = waves[:-1], np.log(counts + 1)
    left = np.einsum("mi,ma,mb->iab", counts, known, known) + np.diag([1, 30, 30])
    right = np.einsum("mi,ma,mi->ia", counts, known, logs)
    curve = np.linalg.solve(left, right[:, :, None])[:, :, 0] @ waves.T
    rest = counts * (logs - curve.T[:-1])
    return np.asarray(curve[:, -1] + faded(rest, 1.5) / (faded(counts, 1.5) + 10))


def group_means(group: np.ndarray, table: np.ndarray) -> np.ndarray:
    """For each row the mean of the rows of its group."""
    means = np.array([table[group == number].mean(axis=0) for number in range(group.max() + 1)])
    return np.asarray(means[group])


def plot_trend(history: MemberHistory, half_life: float) -> np.ndarray:
    """Log popularity of late among members with the same kind of plot."""
    return np.log(group_means(history.plot, faded(history.orders, half_life)) + 1e-3)


def cosine_similarity(counts: np.ndarray) -> np.ndarray:
    """Cosines between items, an item with itself left out."""
    unit = counts / np.maximum(np.linalg.norm(counts, axis=0), 1)
    return np.asarray(unit.T @ unit * (1 - np.eye(counts.shape[1], dtype=np.float32)))


def similar_item_scores(history: MemberHistory, half_life: float) -> np.ndarray:
    """Log score of what goes with the latest items."""
    recent = faded(history.orders, half_life) + 0.4 * faded(history.looks, half_life / 2)
    scores = recent @ cosine_similarity(recent)
    return np.asarray(np.log(scores + 0.1 * scores.mean()))


def alternate(history: MemberHistory, rng: np.random.Generator, *, rank: int, half_life: float) -> np.ndarray:
    """Alternating least squares for implicit feedback: every cell counts, the taken ones more."""
    taken = faded(history.orders, half_life) + 0.3 * faded(history.looks, half_life)
    sides = [rng.normal(0, 0.1, (size, rank)).astype(np.float32) for size in taken.shape]
    for _ in range(5):
        for side, weights in enumerate((8 * taken, 8 * taken.T)):
            other = sides[1 - side]
            outer = (other[:, :, None] * other[:, None, :]).reshape(len(other), -1)
            left = (weights @ outer).reshape(-1, rank, rank) + other.T @ other + 4 * np.eye(rank)
            right = ((1 + weights) * (weights > 0)) @ other
            sides[side] = np.linalg.solve(left, right[:, :, None])[:, :, 0].astype(np.float32)
    return sides[0] @ sides[1].T


def tastes(history: MemberHistory, half_life: float, prior: float) -> list[np.ndarray]:
    """Log preference of each member for an item's shelf, grower and price, against everybody's."""
    recent = faded(history.orders, half_life) + 0.5 * faded(history.looks, half_life)
    bands = np.searchsorted(np.quantile(history.price, np.arange(1, 7) / 7), history.price)
    found = []
    for group in (history.shelf, history.grower, bands):
        counts = recent @ np.eye(group.max() + 1, dtype=np.float32)[group]
        usual = group_means(history.plot, counts)
        usual /= usual.sum(axis=1, keepdims=True)
        shares = (counts + prior * usual) / (counts.sum(axis=1, keepdims=True) + prior)
        found.append(np.log(shares / counts.mean(axis=0) * counts.sum(axis=1).mean())[:, group])
    return found


def due(history: MemberHistory) -> np.ndarray:
    """Log rate of ordering from a shelf so many months after the last time, against never before."""
    gap = np.zeros(history.orders.shape[1:], dtype=int)
    tried, taken = np.zeros((2, len(SHELVES), MONTHS + 1))
    for month, ordered in enumerate(history.orders > 0):
        if month >= MONTHS // 3:
            key = history.shelf * (MONTHS + 1) + gap
            tried += np.bincount(key.ravel(), minlength=tried.size).reshape(tried.shape)
            taken += np.bincount(key[ordered], minlength=tried.size).reshape(tried.shape)
        gap = np.where(ordered, 1, gap + (gap > 0))
    usual = taken[:, :1] / tried[:, :1]
    return np.asarray(np.log((taken + 20 * usual) / (tried + 20) / usual)[history.shelf, gap])
