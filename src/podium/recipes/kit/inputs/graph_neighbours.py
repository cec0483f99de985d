"""Nodes of a graph: what their neighbours say about them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.special import softmax

from podium.recipes.kit.learning.cross_validation import Folds, Predictions, cross_predict, numeric_target, pad_classes
from podium.recipes.kit.learning.vector_models import VectorFit, one_hot_groups, standardise
from podium.tables.script_settings import SEED, time_used
from podium.tables.table_io import ids_as_text, read_table


@dataclass
class Edges:
    """The edges between nodes, which are numbered from 0. Different kinds of edges may have different meanings."""

    source: np.ndarray
    target: np.ndarray
    kind: np.ndarray
    nodes: int

    def matrices(self) -> list[sparse.csr_matrix]:
        """For every kind and direction, a matrix whose product with values is the sum over neighbours."""
        found = []
        for kind in range(self.kind.max() + 1):
            chosen = self.kind == kind
            ends = self.target[chosen], self.source[chosen]
            matrix = sparse.csr_matrix((np.ones(chosen.sum()), ends), shape=(self.nodes, self.nodes))
            found += [matrix, matrix.T.tocsr()]
        return found


def read_edges(file: str, ends: tuple[str, str], kinds: list[str], ids: pd.Series) -> Edges:
    """Return the edges between nodes, each once. Nodes outside train and test come last.

    Args:
        kinds: columns that give the kind of an edge.
        ids: of the nodes in train and test, as text.
    """
    table = read_table(file)
    left, right = (ids_as_text(table[end]) for end in ends)
    nodes, names = pd.factorize(pd.concat([ids, left, right], ignore_index=True))
    source, target = nodes[len(ids) : len(ids) + len(table)], nodes[len(ids) + len(table) :]
    kind = (
        pd.factorize(table[kinds].astype(str).fillna("").agg(" ".join, axis=1))[0]
        if kinds
        else np.zeros(len(table), int)
    )
    edges = pd.DataFrame({"source": source, "target": target, "kind": kind})
    reversed_edges = edges.rename(columns={"source": "target", "target": "source"})
    if len(edges.merge(reversed_edges)) > 0.9 * len(edges):
        edges = edges[edges["source"] < edges["target"]]
    edges = edges[edges["source"] != edges["target"]].drop_duplicates()
    return Edges(edges["source"].to_numpy(), edges["target"].to_numpy(), edges["kind"].to_numpy(), len(names))


def node_features(numbers: pd.DataFrame, groups: pd.DataFrame, edges: Edges, hops: int) -> np.ndarray:
    """Features of nodes without labels: own numbers and groups, degrees, and the mean of these over neighbours.

    Args:
        hops: how far neighbours may be; 0 for a node alone.
    """
    own = numbers.join(one_hot_groups(groups)).to_numpy(float)
    own = np.vstack([standardise(own), np.zeros((edges.nodes - len(own), own.shape[1]))])
    matrices = edges.matrices()
    parts = [own, *(np.log1p(degrees(matrix)) for matrix in matrices)]
    mean_over_neighbours = neighbour_mean(sum(matrices[1:], start=matrices[0]))
    smoothed = np.hstack(parts)
    for _ in range(hops):
        smoothed = mean_over_neighbours(smoothed)
        parts.append(smoothed)
    if hops and len(matrices) > 2 and own.shape[1] * len(matrices) < 400:
        parts += [neighbour_mean(matrix)(own) for matrix in matrices]
    return standardise(np.hstack(parts))


def degrees(matrix: Any) -> np.ndarray:
    """The sum of each row, as a column."""
    return np.asarray(matrix.sum(axis=1)).reshape(-1, 1)


def neighbour_mean(matrix: sparse.csr_matrix) -> Callable[[np.ndarray], np.ndarray]:
    """A function for the mean of values over neighbours, shrunk towards the overall mean where there are few."""
    degree = degrees(matrix)
    return lambda values: np.asarray((matrix @ values + values.mean(axis=0)) / (degree + 1))


def cross_validate_beliefs(
    features: np.ndarray, truth: np.ndarray, folds: Folds, edges: Edges, fit: VectorFit, *, rows: int, rounds: int
) -> Predictions:
    """Class probabilities by belief propagation, with the labels of validation nodes hidden.

    Args:
        features: of all nodes: train, then test, then others.
        rows: the number of train and test nodes together.
    """
    count, started = len(truth), time_used()
    oof, done = np.zeros((count, int(truth.max()) + 1)), np.zeros(count, dtype=bool)
    for number, (learn, check) in enumerate(folds):
        if number and time_used() + 2.2 * (time_used() - started) / number > 0.95:
            break
        labels = np.full(edges.nodes, -1)
        labels[learn] = truth[learn]
        inferred = infer_classes(features, labels, edges, fit, rounds=rounds)[check]
        oof[check], done[check] = pad_classes(inferred, truth), True
    labels = np.full(edges.nodes, -1)
    labels[:count] = truth
    prediction = infer_classes(features, labels, edges, fit, rounds=rounds)[count:rows]
    return (oof[:, 1], prediction[:, 1], done) if oof.shape[1] == 2 else (oof, prediction, done)


def infer_classes(features: np.ndarray, labels: np.ndarray, edges: Edges, fit: VectorFit, *, rounds: int) -> np.ndarray:
    """Class probabilities of every node, from its own features and the beliefs about its neighbours.

    Which classes tend to be linked is counted on labels first, then, round by round, on beliefs too.

    Args:
        labels: classes of all nodes, -1 where unknown.
    """
    known = np.asarray(labels >= 0)
    probability = fit(features[known], labels[known], SEED)(features)
    alone = np.column_stack([1 - probability, probability]) if probability.ndim == 1 else probability
    certain = np.eye(alone.shape[1])[labels] * 0.999 + 0.001 / alone.shape[1]
    alone = np.where(known[:, None], certain, np.clip(alone, 1e-4, 1))
    known_belief = np.where(known[:, None], certain, 0)
    belief = alone
    for number in range(rounds):
        belief = propagate_beliefs(
            alone,
            edges,
            edge_factors(edges, known_belief if number == 0 else np.where(known[:, None], certain, belief)),
        )
    return np.asarray(belief)


def edge_factors(edges: Edges, belief: np.ndarray, pseudocount: float = 5.0) -> list[np.ndarray]:
    """For each kind of edge, how much more often two classes are linked than expected by chance."""
    factors = []
    for kind in range(edges.kind.max() + 1):
        chosen = edges.kind == kind
        left, right = belief[edges.source[chosen]], belief[edges.target[chosen]]
        both = (left.sum(axis=1) > 0) & (right.sum(axis=1) > 0)
        observed = left[both].T @ right[both]
        expected = np.outer(left[both].sum(axis=0), right[both].sum(axis=0)) / max(1, both.sum())
        factors.append((observed + pseudocount) / (expected + pseudocount))
    return factors


def propagate_beliefs(alone: np.ndarray, edges: Edges, factors: list[np.ndarray], passes: int = 15) -> np.ndarray:
    """Class probabilities after loopy belief propagation along the edges.

    A message is a node's view of its neighbour's class, without what that neighbour has sent.

    Args:
        alone: class probabilities of nodes without their neighbours.
    """
    order = np.argsort(edges.kind, kind="stable")
    source, target = edges.source[order], edges.target[order]
    bounds = np.searchsorted(edges.kind[order], np.arange(len(factors) + 1))
    senders, receivers = np.r_[source, target], np.r_[target, source]
    count = len(source)
    gather = sparse.csr_matrix(
        (np.ones(2 * count, np.float32), (receivers, np.arange(2 * count))), (edges.nodes, 2 * count)
    )
    logs = np.log(alone).astype(np.float32)
    messages = np.zeros((2 * count, alone.shape[1]), np.float32)
    for number in range(passes):
        views = softmax((logs + gather @ messages)[senders] - np.roll(messages, count, axis=0), axis=1)
        new = np.empty_like(messages)
        for kind, factor in enumerate(factors):
            there = slice(bounds[kind], bounds[kind + 1])
            back = slice(count + bounds[kind], count + bounds[kind + 1])
            new[there], new[back] = np.log(views[there] @ factor + 1e-9), np.log(views[back] @ factor.T + 1e-9)
        messages = 0.3 * messages + 0.7 * (new - new.mean(axis=1, keepdims=True))
        if number > 4 and time_used() > 0.95:
            break
    return np.asarray(softmax(logs + gather @ messages, axis=1), dtype=float)


def cross_validate_neighbours(
    features: np.ndarray, truth: np.ndarray, folds: Folds, edges: Edges, fit: VectorFit, *, rows: int
) -> Predictions:
    """Like `cross_validate_beliefs` for every goal: neighbours' labels, by kind and direction of edge, are features."""
    count = len(truth)

    def predict_fold(number: int, learn: np.ndarray, check: np.ndarray) -> np.ndarray:
        wide = standardise(np.hstack([features, neighbour_label_means(truth, learn, edges)]))
        predicted = fit(wide[learn], truth[learn], SEED + number)(np.vstack([wide[check], wide[count:rows]]))
        return pad_classes(predicted, truth)

    return cross_predict(predict_fold, folds, count, until=0.9)


def neighbour_label_means(truth: np.ndarray, known: np.ndarray, edges: Edges) -> np.ndarray:
    """The mean label of every node's labelled neighbours and of their neighbours, without the node's own label."""
    columns = numeric_target(truth).reshape(len(truth), -1)
    mean = columns[known].mean(axis=0)
    labels, is_known = np.zeros((edges.nodes, columns.shape[1])), np.zeros((edges.nodes, 1))
    labels[known], is_known[known] = columns[known] - mean, 1.0
    parts = []
    for matrix in edges.matrices():
        counts = matrix @ is_known
        parts += [matrix @ labels / (counts + 1), np.log1p(counts)]
    adjacency = sum(edges.matrices()[1:], start=edges.matrices()[0])
    loops = degrees(adjacency.multiply(adjacency.T))
    second_order, counts = (
        adjacency @ (adjacency @ labels) - loops * labels,
        adjacency @ (adjacency @ is_known) - loops * is_known,
    )
    return np.hstack([*parts, second_order / (counts + 3)])
