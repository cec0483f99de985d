"""A river port: its circles, rolls and ties as they are drawn, and the public tables read back as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from podium.catalog.forge.entrants.learners import ordinal_encoding
from podium.catalog.forge.family import PublicData

if TYPE_CHECKING:
    from scipy.sparse import csr_array

TRADES = ("chandler", "cooper", "dyer", "ropemaker", "tanner")
PARISHES = 14
CLERKS = 9
FIGURES = [f"figure_{number}" for number in range(1, 9)]
STRAY = 0.25
"""The share of ties that follow no rule."""


def draw_town(rng: np.random.Generator, rows: int, home: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The circle and the parish of every household; parishes have their own mix of trades."""
    size = rng.permutation(np.linspace(0.7, 1.5, len(TRADES))) / np.bincount(home)
    share = size[home] * rng.uniform(0.7, 1.3, len(home))
    circle = rng.choice(len(home), rows, p=share / share.sum())
    pull = rng.dirichlet(np.full(PARISHES, 2.0), len(TRADES)).cumsum(axis=1)
    parish = (rng.random((rows, 1)) > pull[home[circle]]).sum(axis=1)
    return circle, np.minimum(parish, PARISHES - 1)


def draw_rolls(rng: np.random.Generator, trade: np.ndarray, circle: np.ndarray, parish: np.ndarray) -> pd.DataFrame:
    """Draw the clerks' records: two figures matter by the agreement of their signs, the debt by its presence."""
    rows, wide, circles = len(trade), len(FIGURES), circle.max() + 1
    middle = rng.normal(0, 0.35, (len(TRADES), wide))[trade] + rng.normal(0, 0.45, (circles, wide))[circle]
    figures = middle + rng.normal(size=(rows, wide))
    one, other = rng.permutation(wide)[:2]
    sign = np.where(rng.random(rows) < 0.75, 1, -1) * rng.permutation([1, 1, -1, -1, -1])[trade]
    figures[:, one] = sign * np.sign(figures[:, other]) * np.abs(figures[:, one])
    clerk = rng.integers(0, CLERKS, rows)
    figures = figures * rng.lognormal(0, 0.5, (CLERKS, 1))[clerk] + rng.normal(0, 1.2, (CLERKS, wide))[clerk]
    indebted = rng.random(rows) < rng.permutation(np.linspace(0.25, 0.75, len(TRADES)))[trade]
    table = pd.DataFrame({"household": [f"H{number:05d}" for number in rng.permutation(100_000)[:rows]]})
    table["parish"] = [f"P{number}" for number in (rng.permutation(90) + 10)[parish]]
    table["clerk"] = [f"C{number}" for number in (rng.permutation(90) + 10)[clerk]]
    table[FIGURES] = figures.round(3)
    table["debt"] = np.where(indebted, rng.lognormal(2.0, 0.8, rows), np.nan).round(2)
    return table.assign(hearths=1 + rng.poisson(rng.uniform(0.8, 2.4, circles)[circle]))


def draw_ties(rng: np.random.Generator, circle: np.ndarray, parish: np.ndarray, home: np.ndarray) -> pd.DataFrame:
    """Edges of the three kinds, by position; busy households have many."""
    activity = 0.35 + rng.lognormal(0, 0.8, len(circle))
    shift = rng.integers(1, len(TRADES), 2)
    partner, customer = (
        np.array([rng.choice(np.flatnonzero(home == (trade + step) % len(TRADES))) for trade in home]) for step in shift
    )
    guarded = np.isin(home, rng.permutation(len(TRADES))[:2])
    trusted = np.where(guarded, partner, np.arange(len(home)))
    kinds = {
        "surety": _edges(rng, circle, trusted, activity, per_household=3.2),
        "lodging": _edges(rng, parish, np.arange(PARISHES), activity, per_household=3.0),
        "supply": _edges(rng, circle, customer, activity, per_household=2.8),
    }
    for kind in ("surety", "lodging"):
        kinds[kind] = rng.permuted(kinds[kind], axis=1)
    tables = [pd.DataFrame(ends, columns=["source", "target"]).assign(kind=kind) for kind, ends in kinds.items()]
    return pd.concat(tables).sample(frac=1, random_state=rng, ignore_index=True)


def _edges(
    rng: np.random.Generator,
    group: np.ndarray,
    preferred: np.ndarray,
    activity: np.ndarray,
    *,
    per_household: float,
) -> np.ndarray:
    """Pairs of households: a source by activity, a target by activity within the group the source prefers."""
    rows = len(group)
    source = rng.choice(rows, int(per_household * rows), p=activity / activity.sum())
    mass = np.bincount(group, activity, len(preferred))
    stray = rng.choice(len(mass), len(source), p=mass / mass.sum())
    chosen = np.where(rng.random(len(source)) < STRAY, stray, preferred[group[source]])
    order = np.argsort(group, kind="stable")
    aim = (np.cumsum(mass) - mass)[chosen] + rng.random(len(source)) * mass[chosen]
    target = order[np.minimum(np.searchsorted(np.cumsum(activity[order]), aim), rows - 1)]
    return np.unique(np.column_stack([source, target])[source != target], axis=0)


@dataclass(frozen=True)
class PortGraph:
    """The public data as arrays over all households, those of train first."""

    known: np.ndarray
    """The trades of the train households, as numbers."""
    plain: np.ndarray
    """The columns unchanged, except that texts are category numbers and blanks zero."""
    level: np.ndarray
    """Figures put on one scale per clerk, their products, whether there is debt, parishes as columns."""
    ties: dict[str, csr_array]
    """Adjacency matrices of the ties, by kind and direction."""

    @property
    def train(self) -> np.ndarray:
        return np.arange(len(self.known))

    def shown(self, rows: np.ndarray) -> np.ndarray:
        """A column per trade that holds a one where a household in `rows` follows it."""
        labels = np.zeros((len(self.plain), len(TRADES)))
        labels[rows, self.known[rows]] = 1
        return labels

    def means(self, values: np.ndarray) -> np.ndarray:
        """The mean of the values over every household's neighbours, tie by tie."""
        return np.hstack([tie @ values / np.maximum(tie.sum(axis=1), 1)[:, None] for tie in self.ties.values()])


def read_graph(data: PublicData) -> PortGraph:
    """Both tables as one, with the ties by position."""
    train, test = data.train.drop(columns=["household", "trade"]), data.test.drop(columns="household")
    return PortGraph(
        known=data.train["trade"].map(TRADES.index).to_numpy(),
        plain=np.nan_to_num(np.vstack(ordinal_encoding(train, test))),
        level=_scaled_columns(pd.concat([train, test], ignore_index=True)),
        ties=_tie_matrices(data),
    )


def _scaled_columns(table: pd.DataFrame) -> np.ndarray:
    by_clerk = table.groupby("clerk")[FIGURES]
    figures = ((table[FIGURES] - by_clerk.transform("mean")) / by_clerk.transform("std")).to_numpy()
    first, second = np.triu_indices(len(FIGURES), 1)
    indebted = table[["debt"]].notna().to_numpy(float)
    parishes = pd.get_dummies(table["parish"]).to_numpy(float)
    rest = table.drop(columns=["parish", "clerk", "debt", *FIGURES]).to_numpy(float)
    return np.hstack([figures, indebted, rest, parishes, figures[:, first] * figures[:, second]])


def _tie_matrices(data: PublicData) -> dict[str, csr_array]:
    from scipy.sparse import csr_array

    position = pd.Index([*data.train["household"], *data.test["household"]])
    ties = {}
    for kind, edges in data.tables["edges.csv"].groupby("kind"):
        ends = (position.get_indexer(edges["source"]), position.get_indexer(edges["target"]))
        tie = csr_array((np.ones(len(edges)), ends), shape=(len(position), len(position)))
        ties[str(kind)] = tie if kind == "supply" else (tie + tie.T).tocsr()
    return ties | {"supplied by": ties["supply"].T.tocsr()}
