"""A small neural network over sentences: each is scored by itself, and a text by the sum of its sentences."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import softmax
from sklearn.feature_extraction.text import CountVectorizer

from podium.recipes.kit.inputs.text_terms import RowFit, RowModel, min_document_count, split_sentences, word_forms


class Sentences(NamedTuple):
    """All sentences of all texts, and the other columns."""

    words: sparse.csr_matrix
    """A row per sentence, with its terms."""
    texts: sparse.csr_matrix
    """A row per text, with a 1 for each of its sentences."""
    side: sparse.csr_matrix
    """A row per text, with the other columns."""


class NetworkWeights(NamedTuple):
    """The parameters of a network: a layer over the words of a sentence, and one over the sum of a text's sentences."""

    first: np.ndarray
    shift: np.ndarray
    last: np.ndarray
    side: np.ndarray
    level: np.ndarray


def read_sentences(texts: list[str], side: sparse.csr_matrix, *, most: int = 30_000) -> Sentences:
    """Splits texts into sentences, and these into words, ends of words and pairs of adjacent words."""
    cut = [split_sentences(text) or [[]] for text in texts]
    counter = CountVectorizer(
        analyzer=sentence_tokens, min_df=min_document_count(texts, 5), max_features=most, binary=True, dtype=np.float32
    )
    words = counter.fit_transform([words for text in cut for words in text])
    sizes = np.maximum(np.asarray(words.sum(axis=1)).ravel(), 1)
    starts = np.r_[0, np.cumsum([len(text) for text in cut])]
    whole = sparse.csr_matrix((np.ones(starts[-1], np.float32), np.arange(starts[-1]), starts))
    return Sentences((sparse.diags(sizes**-0.5) @ words).tocsr().astype(np.float32), whole, side)


def sentence_tokens(words: list[str]) -> list[str]:
    """The terms of a sentence."""
    forms = [form for word in words for form in word_forms(word)]
    return forms + [f"{left} {right}" for left, right in pairwise(words)]


def network_fit(
    sentences: Sentences, *, hidden: int = 24, epochs: int = 16, decay: float = 0.3, drop: float = 0.2, nets: int = 1
) -> RowFit:
    """Return a fit of networks.

    Args:
        hidden: the number of hidden units.
        epochs: how often every text is read.
        decay: the weight decay.
        drop: the share of hidden values dropped at random while learning.
        nets: the number of networks that are averaged.
    """

    def fit(rows: np.ndarray, y: np.ndarray, seed: int) -> RowModel:
        is_number, is_class = y.dtype.kind != "i", y.dtype.kind == "i" and y.ndim == 1 and y.max() > 1
        form = "number" if is_number else "class" if is_class else "label"
        centre, spread = (y.mean(axis=0), y.std(axis=0) + 1e-9) if is_number else (0.0, 1.0)
        target = np.eye(int(y.max()) + 1)[y] if is_class else ((y - centre) / spread).reshape(len(y), -1)
        trained = [
            train_network(sentences, rows, target, form, 100 * seed + net, hidden, epochs, decay, drop)
            for net in range(nets)
        ]

        def predict(others: np.ndarray) -> np.ndarray:
            output = np.mean([network_output(weights, sentences, others, form) for weights in trained], axis=0)
            return np.asarray(output if is_class else output.reshape(len(others), *y.shape[1:]) * spread + centre)

        return predict

    return fit


def train_network(
    sentences: Sentences,
    rows: np.ndarray,
    target: np.ndarray,
    form: str,
    seed: int,
    hidden: int,
    epochs: int,
    decay: float,
    drop: float,
    rate: float = 0.005,
) -> NetworkWeights:
    """The parameters of a network, trained by Adam with a learning rate that falls to zero."""
    rng, columns = np.random.default_rng(seed), target.shape[1]
    shapes = [(sentences.words.shape[1], hidden), (hidden,), (hidden, columns), (sentences.side.shape[1], columns)]
    spreads = [0.1, 0.0, 0.1, 0.0, 0.0]
    weights = [rng.normal(0, spread, shape) for spread, shape in zip(spreads, [*shapes, (columns,)], strict=True)]
    weights = [weight.astype(np.float32) for weight in weights]
    means, squares = [0 * weight for weight in weights], [0 * weight for weight in weights]
    batch = max(1, min(64, len(rows) // 10))
    batches = [part for _ in range(epochs) for part in np.array_split(rng.permutation(len(rows)), len(rows) // batch)]
    for step, part in enumerate(batches):
        step_rate = rate * (1 - step / len(batches))
        for index, gradient in enumerate(
            loss_gradients(NetworkWeights(*weights), sentences, rows[part], target[part], form, drop, rng)
        ):
            means[index] += 0.1 * (gradient - means[index])
            squares[index] += 0.01 * (gradient**2 - squares[index])
            size = np.sqrt(squares[index] / (1 - 0.99 ** (step + 1))) + 1e-8
            change = means[index] / (1 - 0.9 ** (step + 1)) / size
            weights[index] = (weights[index] * (1 - step_rate * decay) - step_rate * change).astype(np.float32)
    return NetworkWeights(*weights)


def loss_gradients(
    weights: NetworkWeights,
    sentences: Sentences,
    rows: np.ndarray,
    target: np.ndarray,
    form: str,
    drop: float,
    rng: np.random.Generator,
) -> NetworkWeights:
    """The gradients of the loss of some texts."""
    texts, side = sentences.texts[rows], sentences.side[rows]
    words = sentences.words[texts.indices]
    texts = sparse.csr_matrix((texts.data, np.arange(len(texts.indices)), texts.indptr))
    scores = words @ weights.first + weights.shift
    gate = (scores > 0) * (rng.random(scores.shape, dtype=np.float32) >= drop) / np.float32(1 - drop)
    hidden = texts @ (scores * gate)
    error = (activate_output(hidden @ weights.last + side @ weights.side + weights.level, form) - target) / len(rows)
    gradient = ((texts.T @ (error @ weights.last.T)) * gate).astype(np.float32)
    return NetworkWeights(words.T @ gradient, gradient.sum(axis=0), hidden.T @ error, side.T @ error, error.sum(axis=0))


def network_output(weights: NetworkWeights, sentences: Sentences, rows: np.ndarray, form: str) -> np.ndarray:
    """The predictions of a network for some texts."""
    texts, side = sentences.texts[rows], sentences.side[rows]
    hidden = texts @ np.maximum(sentences.words @ weights.first + weights.shift, 0)
    return activate_output((hidden @ weights.last + side @ weights.side + weights.level).astype(float), form)


def activate_output(scores: np.ndarray, form: str) -> np.ndarray:
    """Scores as numbers, as probabilities of labels, or as probabilities of classes that add up to one."""
    if form == "number":
        return scores
    if form == "label":
        return np.asarray(1 / (1 + np.exp(-np.clip(scores, -30, 30))))
    return np.asarray(softmax(scores, axis=1))
