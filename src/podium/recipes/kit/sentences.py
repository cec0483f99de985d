"""A small network that reads sentences: each is judged by itself, and a text by the sum of its sentences."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from podium.recipes.kit.text import RowFit, RowModel, cut_sentences, fewest, word_forms


class Sentences(NamedTuple):
    """All sentences of all texts, and what is known beside the texts."""

    words: sparse.csr_matrix
    """A row per sentence, with what stands in it."""
    texts: sparse.csr_matrix
    """A row per text, with a 1 for each of its sentences."""
    side: sparse.csr_matrix
    """A row per text, with other columns."""


class Weights(NamedTuple):
    """What a network has learnt: a layer over the words of a sentence, and one over the sum of a text's sentences."""

    first: np.ndarray
    shift: np.ndarray
    last: np.ndarray
    side: np.ndarray
    level: np.ndarray


def read_sentences(texts: list[str], side: sparse.csr_matrix, *, most: int = 30_000) -> Sentences:
    """Cuts texts into sentences, and these into words, ends of words and pairs of neighbouring words."""
    cut = [cut_sentences(text) or [[]] for text in texts]
    counter = CountVectorizer(
        analyzer=words_and_neighbours, min_df=fewest(texts, 5), max_features=most, binary=True, dtype=np.float32
    )
    words = counter.fit_transform([words for text in cut for words in text])
    sizes = np.maximum(np.asarray(words.sum(axis=1)).ravel(), 1)
    starts = np.r_[0, np.cumsum([len(text) for text in cut])]
    whole = sparse.csr_matrix((np.ones(starts[-1], np.float32), np.arange(starts[-1]), starts))
    return Sentences((sparse.diags(sizes**-0.5) @ words).tocsr().astype(np.float32), whole, side)


def words_and_neighbours(words: list[str]) -> list[str]:
    """What a sentence is said to hold."""
    forms = [form for word in words for form in word_forms(word)]
    return forms + [f"{left} {right}" for left, right in pairwise(words)]


def network_rows(
    sentences: Sentences, *, hidden: int = 24, epochs: int = 16, decay: float = 0.3, drop: float = 0.2, nets: int = 1
) -> RowFit:
    """How networks are made.

    Args:
        hidden: as many things are asked of each sentence.
        epochs: as often is every text read.
        decay: how fast weights that are not needed shrink.
        drop: the share of hidden values left out by chance while learning.
        nets: so many networks are averaged.
    """

    def fit(rows: np.ndarray, aim: np.ndarray, seed: int) -> RowModel:
        is_number, is_class = aim.dtype.kind != "i", aim.dtype.kind == "i" and aim.ndim == 1 and aim.max() > 1
        form = "number" if is_number else "class" if is_class else "label"
        centre, spread = (aim.mean(axis=0), aim.std(axis=0) + 1e-9) if is_number else (0.0, 1.0)
        wanted = np.eye(int(aim.max()) + 1)[aim] if is_class else ((aim - centre) / spread).reshape(len(aim), -1)
        trained = [
            learnt(sentences, rows, wanted, form, 100 * seed + net, hidden, epochs, decay, drop) for net in range(nets)
        ]

        def predict(others: np.ndarray) -> np.ndarray:
            found = np.mean([told(weights, sentences, others, form) for weights in trained], axis=0)
            return found if is_class else found.reshape(len(others), *aim.shape[1:]) * spread + centre

        return predict

    return fit


def learnt(
    sentences: Sentences,
    rows: np.ndarray,
    wanted: np.ndarray,
    form: str,
    seed: int,
    hidden: int,
    epochs: int,
    decay: float,
    drop: float,
    rate: float = 0.005,
) -> Weights:
    """The weights of a network, after many small steps down the slopes of its loss (Adam, slower towards the end)."""
    rng, columns = np.random.default_rng(seed), wanted.shape[1]
    shapes = [(sentences.words.shape[1], hidden), (hidden,), (hidden, columns), (sentences.side.shape[1], columns)]
    spreads = [0.1, 0.0, 0.1, 0.0, 0.0]
    weights = [rng.normal(0, spread, shape) for spread, shape in zip(spreads, [*shapes, (columns,)], strict=True)]
    weights = [weight.astype(np.float32) for weight in weights]
    means, squares = [0 * weight for weight in weights], [0 * weight for weight in weights]
    batch = max(1, min(64, len(rows) // 10))
    batches = [part for _ in range(epochs) for part in np.array_split(rng.permutation(len(rows)), len(rows) // batch)]
    for step, part in enumerate(batches):
        now = rate * (1 - step / len(batches))
        for place, slope in enumerate(slopes(Weights(*weights), sentences, rows[part], wanted[part], form, drop, rng)):
            means[place] += 0.1 * (slope - means[place])
            squares[place] += 0.01 * (slope**2 - squares[place])
            size = np.sqrt(squares[place] / (1 - 0.99 ** (step + 1))) + 1e-8
            change = means[place] / (1 - 0.9 ** (step + 1)) / size
            weights[place] = (weights[place] * (1 - now * decay) - now * change).astype(np.float32)
    return Weights(*weights)


def slopes(
    weights: Weights,
    sentences: Sentences,
    rows: np.ndarray,
    wanted: np.ndarray,
    form: str,
    drop: float,
    rng: np.random.Generator,
) -> Weights:
    """The slopes of the loss of some texts at some weights."""
    texts, side = sentences.texts[rows], sentences.side[rows]
    words = sentences.words[texts.indices]
    texts = sparse.csr_matrix((texts.data, np.arange(len(texts.indices)), texts.indptr))
    sums = words @ weights.first + weights.shift
    gate = (sums > 0) * (rng.random(sums.shape, dtype=np.float32) >= drop) / np.float32(1 - drop)
    inner = texts @ (sums * gate)
    error = (outcome(inner @ weights.last + side @ weights.side + weights.level, form) - wanted) / len(rows)
    back = ((texts.T @ (error @ weights.last.T)) * gate).astype(np.float32)
    return Weights(words.T @ back, back.sum(axis=0), inner.T @ error, side.T @ error, error.sum(axis=0))


def told(weights: Weights, sentences: Sentences, rows: np.ndarray, form: str) -> np.ndarray:
    """What a network says of some texts."""
    texts, side = sentences.texts[rows], sentences.side[rows]
    inner = texts @ np.maximum(sentences.words @ weights.first + weights.shift, 0)
    return outcome((inner @ weights.last + side @ weights.side + weights.level).astype(float), form)


def outcome(scores: np.ndarray, form: str) -> np.ndarray:
    """The scores of texts as numbers, as chances of labels, or as chances of classes that add up to one."""
    if form == "number":
        return scores
    if form == "label":
        return np.asarray(1 / (1 + np.exp(-np.clip(scores, -30, 30))))
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))
