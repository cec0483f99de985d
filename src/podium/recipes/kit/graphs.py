"""Nodes and the ties between them: what neighbours say about a node."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from podium.recipes.kit.environment import SEED, time_used
from podium.recipes.kit.submission import read_table
from podium.recipes.kit.vectors import VectorFit, as_names, flags, scaled


@dataclass
class Ties:
    """Ties between nodes, which are counted from 0. Several kinds of ties may mean different things."""

    source: np.ndarray
    target: np.ndarray
    kind: np.ndarray
    nodes: int

    def matrices(self) -> list[sparse.csr_matrix]:
        """Of every kind and direction, a matrix whose product with values is the sum over neighbours."""
        found = []
        for kind in range(self.kind.max() + 1):
            chosen = self.kind == kind
            ends = self.target[chosen], self.source[chosen]
            matrix = sparse.csr_matrix((np.ones(chosen.sum()), ends), shape=(self.nodes, self.nodes))
            found += [matrix, matrix.T.tocsr()]
        return found


def read_ties(file: str, ends: tuple[str, str], kinds: list[str], ids: pd.Series) -> Ties:
    """The ties between nodes, each once. Nodes without a row of their own come after those that have one.

    Args:
        kinds: columns that say what kind of tie it is.
        ids: of the nodes with rows, as text.
    """
    table = read_table(file)
    left, right = (as_names(table[end]) for end in ends)
    places, known = pd.factorize(pd.concat([ids, left, right], ignore_index=True))
    source, target = places[len(ids) : len(ids) + len(table)], places[len(ids) + len(table) :]
    kind = pd.factorize(table[kinds].astype(str).agg(" ".join, axis=1))[0] if kinds else np.zeros(len(table), int)
    ties = pd.DataFrame({"source": source, "target": target, "kind": kind})
    turned = ties.rename(columns={"source": "target", "target": "source"})
    if len(ties.merge(turned)) > 0.9 * len(ties):
        ties = ties[ties["source"] < ties["target"]]
    ties = ties[ties["source"] != ties["target"]].drop_duplicates()
    return Ties(ties["source"].to_numpy(), ties["target"].to_numpy(), ties["kind"].to_numpy(), len(known))


def aim_columns(aim: np.ndarray) -> np.ndarray:
    """What is to be learnt as columns of numbers: one for each class if there are more than two."""
    if aim.ndim == 1 and aim.dtype.kind == "i" and aim.max() > 1:
        return np.asarray(np.eye(int(aim.max()) + 1)[aim])
    return aim.reshape(len(aim), -1).astype(float)


def node_features(numbers: pd.DataFrame, groups: pd.DataFrame, ties: Ties, hops: int) -> np.ndarray:
    """Everything known of nodes but labels: own numbers and groups, degrees, and the mean of both over neighbours.

    Args:
        hops: how far neighbours may be; 0 for a node alone.
    """
    own = numbers.join(flags(groups)).to_numpy(float)
    own = np.vstack([scaled(own), np.zeros((ties.nodes - len(own), own.shape[1]))])
    matrices = ties.matrices()
    found = [own, *(np.log1p(degrees(matrix)) for matrix in matrices)]
    everywhere = mean_over(sum(matrices[1:], start=matrices[0]))
    spread = np.hstack(found)
    for _ in range(hops):
        spread = everywhere(spread)
        found.append(spread)
    if hops and len(matrices) > 2 and own.shape[1] * len(matrices) < 400:
        found += [mean_over(matrix)(own) for matrix in matrices]
    return scaled(np.hstack(found))


def degrees(matrix: Any) -> np.ndarray:
    """The sum of each row, as a column."""
    return np.asarray(matrix.sum(axis=1)).reshape(-1, 1)


def mean_over(matrix: sparse.csr_matrix) -> Callable[[np.ndarray], np.ndarray]:
    """What takes the mean of values over neighbours, drawn to the overall mean where there are few."""
    degree = degrees(matrix)
    return lambda values: np.asarray((matrix @ values + values.mean(axis=0)) / (degree + 1))


def cross_believed(
    features: np.ndarray,
    truth: np.ndarray,
    folds: list[tuple[np.ndarray, np.ndarray]],
    ties: Ties,
    fit: VectorFit,
    *,
    rows: int,
    rounds: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Probabilities of classes for train nodes whose label was hidden, for test nodes, and which train nodes have one.

    Args:
        features: of all nodes, those of train first, then those of test.
        rows: how many nodes train and test have together.
    """
    count, started = len(truth), time_used()
    oof, done = np.zeros((count, int(truth.max()) + 1)), np.zeros(count, dtype=bool)
    for number, (learn, check) in enumerate(folds):
        if number and time_used() + 2.2 * (time_used() - started) / number > 0.95:
            break
        labels = np.full(ties.nodes, -1)
        labels[learn] = truth[learn]
        oof[check], done[check] = beliefs(features, labels, ties, fit, rounds=rounds)[check], True
    labels = np.full(ties.nodes, -1)
    labels[:count] = truth
    guess = beliefs(features, labels, ties, fit, rounds=rounds)[count:rows]
    return (oof[:, 1], guess[:, 1], done) if oof.shape[1] == 2 else (oof, guess, done)


def beliefs(features: np.ndarray, labels: np.ndarray, ties: Ties, fit: VectorFit, *, rounds: int) -> np.ndarray:
    """Probabilities of every node's class, from its own features and from what its neighbours are believed to be.

    Which classes tend to be tied is counted on labels first, then, round by round, on beliefs too.

    Args:
        labels: classes of all nodes, -1 where unknown.
    """
    known = np.asarray(labels >= 0)
    first = fit(features[known], labels[known], SEED)(features)
    alone = np.column_stack([1 - first, first]) if first.ndim == 1 else first
    certain = np.eye(alone.shape[1])[labels] * 0.999 + 0.001 / alone.shape[1]
    alone = np.where(known[:, None], certain, np.clip(alone, 1e-4, 1))
    given = np.where(known[:, None], certain, 0)
    found = alone
    for number in range(rounds):
        found = propagated(
            alone, ties, tie_factors(ties, given if number == 0 else np.where(known[:, None], certain, found))
        )
    return np.asarray(found)


def tie_factors(ties: Ties, belief: np.ndarray, caution: float = 5.0) -> list[np.ndarray]:
    """Of each kind of tie, how much more often two classes are tied than by chance."""
    factors = []
    for kind in range(ties.kind.max() + 1):
        chosen = ties.kind == kind
        left, right = belief[ties.source[chosen]], belief[ties.target[chosen]]
        both = (left.sum(axis=1) > 0) & (right.sum(axis=1) > 0)
        seen = left[both].T @ right[both]
        chance = np.outer(left[both].sum(axis=0), right[both].sum(axis=0)) / max(1, both.sum())
        factors.append((seen + caution) / (chance + caution))
    return factors


def propagated(alone: np.ndarray, ties: Ties, factors: list[np.ndarray], passes: int = 15) -> np.ndarray:
    """Beliefs after messages have gone along the ties for some passes: loopy belief propagation.

    A message says how a node sees its neighbour, leaving out what that neighbour has told it.

    Args:
        alone: probabilities of the classes of nodes without their neighbours.
    """
    order = np.argsort(ties.kind, kind="stable")
    source, target = ties.source[order], ties.target[order]
    bounds = np.searchsorted(ties.kind[order], np.arange(len(factors) + 1))
    senders, takers = np.r_[source, target], np.r_[target, source]
    count = len(source)
    gather = sparse.csr_matrix(
        (np.ones(2 * count, np.float32), (takers, np.arange(2 * count))), (ties.nodes, 2 * count)
    )
    logs = np.log(alone).astype(np.float32)
    messages = np.zeros((2 * count, alone.shape[1]), np.float32)
    for number in range(passes):
        views = (logs + gather @ messages)[senders] - np.roll(messages, count, axis=0)
        views = np.exp(views - views.max(axis=1, keepdims=True))
        views /= views.sum(axis=1, keepdims=True)
        new = np.empty_like(messages)
        for kind, factor in enumerate(factors):
            there = slice(bounds[kind], bounds[kind + 1])
            back = slice(count + bounds[kind], count + bounds[kind + 1])
            new[there], new[back] = np.log(views[there] @ factor + 1e-9), np.log(views[back] @ factor.T + 1e-9)
        messages = 0.3 * messages + 0.7 * (new - new.mean(axis=1, keepdims=True))
        if number > 4 and time_used() > 0.95:
            break
    found = logs + gather @ messages
    raised = np.exp(found - found.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True), dtype=float)


def cross_smoothed(
    features: np.ndarray,
    truth: np.ndarray,
    folds: list[tuple[np.ndarray, np.ndarray]],
    ties: Ties,
    fit: VectorFit,
    *,
    rows: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Like `cross_believed` for every goal: labels of neighbours are features, by kind and direction of the tie."""
    count, started = len(truth), time_used()
    oof: np.ndarray | None = None
    total: Any = 0.0
    done = np.zeros(len(truth), dtype=bool)
    for number, (learn, check) in enumerate(folds):
        if number and time_used() + (time_used() - started) / number > 0.9:
            break
        wide = scaled(np.hstack([features, neighbour_labels(truth, learn, ties)]))
        predicted = fit(wide[learn], truth[learn], SEED + number)(np.vstack([wide[check], wide[count:rows]]))
        oof = np.zeros((count, *predicted.shape[1:])) if oof is None else oof
        oof[check], done[check] = predicted[: len(check)], True
        total = total + predicted[len(check) :]
    assert oof is not None
    return oof, np.asarray(total / sum(done[check].all() for _, check in folds)), done


def neighbour_labels(truth: np.ndarray, known: np.ndarray, ties: Ties) -> np.ndarray:
    """Mean label of every node's labelled neighbours and of their neighbours, never counting a node's own label."""
    columns = aim_columns(truth)
    mean = columns[known].mean(axis=0)
    labels, has = np.zeros((ties.nodes, columns.shape[1])), np.zeros((ties.nodes, 1))
    labels[known], has[known] = columns[known] - mean, 1.0
    found = []
    for matrix in ties.matrices():
        counts = matrix @ has
        found += [matrix @ labels / (counts + 1), np.log1p(counts)]
    around = sum(ties.matrices()[1:], start=ties.matrices()[0])
    loops = degrees(around.multiply(around.T))
    beyond, counts = around @ (around @ labels) - loops * labels, around @ (around @ has) - loops * has
    return np.hstack([*found, beyond / (counts + 3)])
