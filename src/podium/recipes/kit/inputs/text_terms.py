"""Text features: documents as rows of weighted terms, and linear models on these rows.

A model is made by `fit(rows, y, seed)` from the numbers of the rows to learn from, and predicts by being called with
the numbers of other rows. `y` holds indices of classes, numbers, or a column of either for each label.
"""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import Ridge

from podium.recipes.kit.learning.cross_validation import Folds, Predictions, cross_predict, pad_classes
from podium.recipes.kit.learning.fit_models import logistic_regression, predictor
from podium.tables.dates import parse_dates
from podium.tables.script_settings import SEED, TIME_S, time_used

TOKEN = re.compile(r"\w+|[^\w\s]")
SENTENCE_END = re.compile(r"(?<=[.!?:;])\s+|\n+")
MAX_SENTENCE_WORDS = 14
RowModel = Callable[[np.ndarray], np.ndarray]
RowFit = Callable[[np.ndarray, np.ndarray, int], RowModel]


def read_texts(both: pd.DataFrame, names: list[str], *, drop_quotes: bool) -> list[str]:
    """The text of every row, with several columns joined.

    Args:
        drop_quotes: whether lines that quote an earlier message (`> ...`) are left out, where other lines remain.
    """
    texts = both[names].fillna("").astype(str).agg("\n".join, axis=1).tolist()
    return [without_quotes(text) for text in texts] if drop_quotes else texts


def without_quotes(text: str) -> str:
    """A text without the lines that begin with `>`; unchanged if there are no others."""
    own = "\n".join(line for line in text.split("\n") if not line.lstrip().startswith(">"))
    return own if own.strip() else text


def affordable_rows(texts: list[str], rows: int, characters_a_second: float) -> np.ndarray:
    """Return the train rows to learn from: all of them, or an even sample if time is short."""
    lengths = np.array([len(text) + 20 for text in texts])
    left = characters_a_second * TIME_S - lengths[rows:].sum()
    share = min(1.0, max(left, 0.1 * lengths[rows:].sum()) / max(1, lengths[:rows].sum()))
    kept: np.ndarray = np.floor(np.arange(1, rows + 1) * share) > np.floor(np.arange(rows) * share)
    print("learning from", kept.sum(), "of", rows, "texts")
    return kept


def restrict_folds(folds: Folds, kept: np.ndarray) -> Folds:
    """Folds of only those rows that are learnt from."""
    return [(learn[kept[learn]], check[kept[check]]) for learn, check in folds]


def blank_unused(texts: list[str], kept: np.ndarray) -> list[str]:
    """Texts, empty where a train row is not learnt from."""
    return [text if row >= len(kept) or kept[row] else "" for row, text in enumerate(texts)]


def word_matrix(texts: list[str], *, longest: int = 2, most: int = 300_000) -> sparse.csr_matrix:
    """Return words, punctuation marks and their n-grams."""
    return tfidf(texts, 2, token_pattern=TOKEN.pattern, ngram_range=(1, longest), max_df=0.9, max_features=most)


def character_matrix(texts: list[str], *, shortest: int = 2, longest: int = 4) -> sparse.csr_matrix:
    """Sequences of characters within words, which are robust to typing errors and inflection."""
    return tfidf(texts, 4, analyzer="char_wb", ngram_range=(shortest, longest))


def word_pair_matrix(texts: list[str]) -> sparse.csr_matrix:
    """Words, and pairs of words or of their ends in one sentence, in order."""
    return tfidf(texts, 5, analyzer=sentence_pairs)


def tfidf(texts: list[str], least: int, *, max_features: int = 300_000, **options: Any) -> sparse.csr_matrix:
    """Terms weighted by how rare they are; terms of too few texts are left out."""
    counter = TfidfVectorizer(
        min_df=min_document_count(texts, least),
        sublinear_tf=True,
        max_features=max_features,
        dtype=np.float32,
        **options,
    )
    matrix: sparse.csr_matrix = counter.fit_transform(texts)
    return matrix


def min_document_count(texts: list[str], least: int) -> int:
    """In how many texts a term must occur to count: fewer where there are few texts."""
    return max(1, min(least, len(texts) // 100))


def split_sentences(text: str) -> list[list[str]]:
    """The words of each sentence in lower case; long sentences are cut."""
    sentences = []
    for sentence in SENTENCE_END.split(text.lower()):
        words = TOKEN.findall(sentence)
        sentences += [words[start : start + MAX_SENTENCE_WORDS] for start in range(0, len(words), MAX_SENTENCE_WORDS)]
    return sentences


def word_forms(word: str) -> list[str]:
    """A word, and the first and last letters of a longer one."""
    return [word, f"{word[:3]}-", f"-{word[-3:]}"] if len(word) > 5 else [word]


def sentence_pairs(text: str) -> list[str]:
    """The terms of `word_pair_matrix`."""
    found: list[str] = []
    for words in split_sentences(text):
        forms = [word_forms(word) for word in words if word.isalnum()]
        for index, left in enumerate(forms):
            found += left
            found += [f"{one} {other}" for right in forms[index + 1 :] for one in left for other in right]
    return found


def text_statistics(texts: list[str]) -> pd.DataFrame:
    """Length, shares of capitals, punctuation and digits, and the first numbers in each text."""
    column = pd.Series(texts)
    length = column.str.len().clip(lower=1).astype(float)
    numbers = column.map(lambda text: [float(one) for one in re.findall(r"\d+(?:\.\d+)?", text)[:3]])
    facts: dict[str, Any] = {"log length": np.log(length), "words": np.log1p(column.str.count(r"\w+"))}
    shares = {"capitals": r"[A-Z]", "digits": r"\d", "marks": r"[^\w\s]", "shouts": r"[!?]", "breaks": r"\n"}
    facts |= {name: column.str.count(pattern) / length for name, pattern in shares.items()}
    facts |= {f"number {index + 1} in it": numbers.str[index] for index in range(3)}
    found = pd.DataFrame(facts)
    return found.loc[:, (found.nunique() > 1) & (found.notna().mean() > 0.05)]


def column_matrix(numbers: pd.DataFrame, groups: pd.DataFrame, *, weight: float = 0.2) -> sparse.csr_matrix:
    """The other columns: numbers as ranks, and a column for each group that is not rare."""
    ranks = numbers.rank(pct=True).fillna(0.5).to_numpy(np.float32) - 0.5
    parts: list[Any] = [sparse.csr_matrix(2 * weight * ranks)]
    for name in groups:
        codes = groups[name].to_numpy()
        counts = np.bincount(codes + 1)[1:]
        column: np.ndarray = np.where(counts >= 5, np.cumsum(counts >= 5) - 1, -1)[codes]
        rows = np.flatnonzero(column >= 0)
        shape = (len(codes), int((counts >= 5).sum()))
        weights: np.ndarray = np.full(len(rows), weight, np.float32)
        parts.append(sparse.csr_matrix((weights, (rows, column[rows])), shape=shape))
    matrix: sparse.csr_matrix = sparse.hstack(parts, format="csr", dtype=np.float32)
    return matrix


def yearly_season_features(both: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """Sine waves that repeat every year, of each date column."""
    found: dict[str, Any] = {}
    for name in names:
        angle = 2 * np.pi * parse_dates(both[name]).dt.dayofyear / 365.25
        for periods in (1, 2):
            found |= {
                f"{name} sine {periods}": np.sin(periods * angle),
                f"{name} cosine {periods}": np.cos(periods * angle),
            }
    return pd.DataFrame(found, index=both.index)


def cross_validate_rows(fit: RowFit, y: np.ndarray, folds: Folds, total: int, *, until: float = 0.8) -> Predictions:
    """Predictions for train rows by models that were not fitted on them, and for test rows by all models.

    Args:
        total: the number of rows; those after the train rows are the test rows.
        until: the share of the script's time after which no further fold is started.
    """
    tests = np.arange(len(y), total)

    def predict_fold(number: int, learn: np.ndarray, check: np.ndarray) -> np.ndarray:
        return pad_classes(fit(learn, y[learn], SEED + number)(np.r_[check, tests]), y)

    return cross_predict(predict_fold, folds, len(y), until=until)


def linear_fit(table: sparse.csr_matrix, inverse_penalty: float, *, ratios: bool = False) -> RowFit:
    """Return a fit of linear models of rows: logistic regression of classes, ridge regression of numbers.

    Args:
        ratios: whether each class is separated from the rest on columns weighted by their log count ratio.
    """

    def fit(rows: np.ndarray, y: np.ndarray, seed: int) -> RowModel:
        if y.dtype.kind != "i":
            model = Ridge(alpha=1 / inverse_penalty, solver="sparse_cg", tol=1e-3).fit(table[rows], y)
            return lambda others: np.asarray(model.predict(table[others]))
        if y.ndim > 1:
            each = [fit_binary_logistic(table, rows, column, inverse_penalty, ratios) for column in y.T]
            return lambda others: np.column_stack([model(others) for model in each])
        if y.max() <= 1:
            return fit_binary_logistic(table, rows, y, inverse_penalty, ratios)
        if ratios:
            each = [
                fit_binary_logistic(table, rows, (y == index) + 0, inverse_penalty, ratios)
                for index in range(y.max() + 1)
            ]
            return lambda others: normalise_rows(np.column_stack([model(others) for model in each]))
        whole = predictor(logistic_regression(inverse_penalty, steps=100, tolerance=1e-3).fit(table[rows], y), y)
        return lambda others: whole(table[others])

    return fit


def fit_binary_logistic(table: Any, rows: np.ndarray, y: np.ndarray, inverse_penalty: float, ratios: bool) -> RowModel:
    """A logistic regression of 0 and 1."""
    if y.min() == y.max():
        return lambda others: np.full(len(others), float(y[0]))
    weights = log_count_ratios(table[rows], y) if ratios else np.ones(table.shape[1], np.float32)
    weighted = table @ sparse.diags(weights)
    model = logistic_regression(inverse_penalty, steps=100, tolerance=1e-3).fit(weighted[rows], y)
    return lambda others: np.asarray(model.predict_proba(weighted[others])[:, 1])


def log_count_ratios(table: Any, y: np.ndarray) -> np.ndarray:
    """Return the log ratio of each column's frequency where y is 1."""
    yes, no = (np.asarray(abs(table[y == value]).sum(axis=0)).ravel() + 1 for value in (1, 0))
    return np.asarray(np.log(yes / yes.sum()) - np.log(no / no.sum()), dtype=np.float32)


def normalise_rows(probabilities: np.ndarray) -> np.ndarray:
    """Class probabilities that add up to one."""
    return np.asarray(probabilities / np.maximum(probabilities.sum(axis=1, keepdims=True), 1e-9))


def best_inverse_penalty(
    make: Callable[[float], RowFit], y: np.ndarray, folds: Folds, candidates: list[float], until: float = 0.35
) -> float:
    """The inverse penalty that does best on the first fold; stops when it gets worse or time is short."""
    learn, check = folds[0]
    best, chosen = np.inf, candidates[0]
    for inverse_penalty in candidates:
        predicted = make(inverse_penalty)(learn, y[learn], SEED)(check)
        loss = prediction_loss(y[check], pad_classes(predicted, y))
        print("inverse penalty", inverse_penalty, "has a loss of", round(loss, 5), flush=True)
        if loss > best:
            break
        best, chosen = loss, inverse_penalty
        if time_used() > until:
            break
    return chosen


def prediction_loss(y: np.ndarray, predicted: np.ndarray) -> float:
    """The mean squared error for numbers, the log loss for classes."""
    if y.dtype.kind != "i":
        return float(np.mean((y - predicted) ** 2))
    if predicted.ndim > y.ndim:
        return float(-np.mean(np.log(np.clip(predicted[np.arange(len(y)), y], 1e-9, 1))))
    likely = np.clip(np.where(y > 0, predicted, 1 - predicted), 1e-9, 1)
    return float(-np.mean(np.log(likely)))


def topic_features(table: sparse.csr_matrix, count: int) -> pd.DataFrame:
    """The coordinates of each text in the main directions in which texts differ."""
    count = max(1, min(count, min(table.shape) - 1))
    coordinates = TruncatedSVD(count, random_state=SEED).fit_transform(table)
    return pd.DataFrame(coordinates, columns=[f"topic {index + 1}" for index in range(count)])
