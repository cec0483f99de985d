"""Text: documents as rows of weighted words, and linear models of such rows.

A model is made by `fit(rows, aim, seed)` from the numbers of the rows to learn from, and predicts by being called with
the numbers of other rows. An `aim` is classes counted from 0, numbers, or a column of either for each label.
"""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, Ridge

from podium.recipes.kit.environment import SEED, TIME_S, time_used
from podium.recipes.kit.models import predictor

WORD = re.compile(r"\w+|[^\w\s]")
STOP = re.compile(r"(?<=[.!?:;])\s+|\n+")
LONGEST = 14
RowModel = Callable[[np.ndarray], np.ndarray]
RowFit = Callable[[np.ndarray, np.ndarray, int], RowModel]
RowFolds = list[tuple[np.ndarray, np.ndarray]]


def read_texts(both: pd.DataFrame, names: list[str], *, drop_quotes: bool) -> list[str]:
    """The text of every row, of several columns one after the other.

    Args:
        drop_quotes: whether lines that quote what somebody wrote before (`> ...`) are left out, where others remain.
    """
    texts = both[names].fillna("").astype(str).agg("\n".join, axis=1).tolist()
    return [without_quotes(text) for text in texts] if drop_quotes else texts


def without_quotes(text: str) -> str:
    """A text less the lines that begin with `>`; as it is if there are no others."""
    own = "\n".join(line for line in text.split("\n") if not line.lstrip().startswith(">"))
    return own if own.strip() else text


def affordable(texts: list[str], rows: int, characters_a_second: float) -> np.ndarray:
    """Which train rows to learn from, evenly spread: all, unless there is no time to read so much."""
    lengths = np.array([len(text) + 20 for text in texts])
    left = characters_a_second * TIME_S - lengths[rows:].sum()
    share = min(1.0, max(left, 0.1 * lengths[rows:].sum()) / max(1, lengths[:rows].sum()))
    kept: np.ndarray = np.floor(np.arange(1, rows + 1) * share) > np.floor(np.arange(rows) * share)
    print("learning from", kept.sum(), "of", rows, "texts")
    return kept


def kept_folds(folds: RowFolds, kept: np.ndarray) -> RowFolds:
    """Folds of those rows only that are learnt from."""
    return [(learn[kept[learn]], check[kept[check]]) for learn, check in folds]


def blanked(texts: list[str], kept: np.ndarray) -> list[str]:
    """Texts, empty where a train row is not learnt from."""
    return [text if place >= len(kept) or kept[place] else "" for place, text in enumerate(texts)]


def word_table(texts: list[str], *, longest: int = 2, least: int = 2, most: int = 300_000) -> sparse.csr_matrix:
    """Words, marks and rows of up to so many of them; the rarer they are in all texts, the more they weigh."""
    counter = TfidfVectorizer(
        token_pattern=WORD.pattern, ngram_range=(1, longest), min_df=fewest(texts, least), max_df=0.9,
        sublinear_tf=True, max_features=most, dtype=np.float32,
    )  # fmt: skip
    return counter.fit_transform(texts)


def letter_table(texts: list[str], *, shortest: int = 2, longest: int = 4, most: int = 300_000) -> sparse.csr_matrix:
    """Pieces of words, which typing errors and endings leave alone."""
    counter = TfidfVectorizer(
        analyzer="char_wb", ngram_range=(shortest, longest), min_df=fewest(texts, 4), sublinear_tf=True,
        max_features=most, dtype=np.float32,
    )  # fmt: skip
    return counter.fit_transform(texts)


def pair_table(texts: list[str], *, most: int = 300_000) -> sparse.csr_matrix:
    """Words, and pairs of words or ends of words that stand in one sentence, in their order."""
    counter = TfidfVectorizer(
        analyzer=sentence_pairs, min_df=fewest(texts, 5), sublinear_tf=True, max_features=most, dtype=np.float32
    )
    return counter.fit_transform(texts)


def fewest(texts: list[str], least: int) -> int:
    """In how many texts a word must be to count: few where there are few texts."""
    return max(1, min(least, len(texts) // 100))


def cut_sentences(text: str) -> list[list[str]]:
    """The words of each sentence in lower case; long sentences are cut."""
    found = []
    for sentence in STOP.split(text.lower()):
        words = WORD.findall(sentence)
        found += [words[start : start + LONGEST] for start in range(0, len(words), LONGEST)]
    return found


def word_forms(word: str) -> list[str]:
    """A word, and the beginning and the end of a longer one, which may mean something of their own."""
    return [word, f"{word[:3]}-", f"-{word[-3:]}"] if len(word) > 5 else [word]


def sentence_pairs(text: str) -> list[str]:
    """What `pair_table` counts."""
    found: list[str] = []
    for words in cut_sentences(text):
        forms = [word_forms(word) for word in words if word.isalnum()]
        for place, left in enumerate(forms):
            found += left
            found += [f"{one} {other}" for right in forms[place + 1 :] for one in left for other in right]
    return found


def text_facts(texts: list[str]) -> pd.DataFrame:
    """What can be said about texts without reading them: length, capitals, marks, digits, and the numbers in them."""
    column = pd.Series(texts)
    length = column.str.len().clip(lower=1).astype(float)
    numbers = column.map(lambda text: [float(one) for one in re.findall(r"\d+(?:\.\d+)?", text)[:3]])
    facts = {"log length": np.log(length), "words": np.log1p(column.str.count(r"\w+"))}
    shares = {"capitals": r"[A-Z]", "digits": r"\d", "marks": r"[^\w\s]", "shouts": r"[!?]", "breaks": r"\n"}
    facts |= {name: column.str.count(pattern) / length for name, pattern in shares.items()}
    facts |= {f"number {place + 1} in it": numbers.str[place] for place in range(3)}
    found = pd.DataFrame(facts)
    return found.loc[:, (found.nunique() > 1) & (found.notna().mean() > 0.05)]


def side_table(numbers: pd.DataFrame, groups: pd.DataFrame, *, weight: float = 0.2) -> sparse.csr_matrix:
    """Other columns beside the text: numbers brought to one scale, and a column for each group that is not rare."""
    even = numbers.rank(pct=True).fillna(0.5).to_numpy(np.float32) - 0.5
    parts = [sparse.csr_matrix(2 * weight * even)]
    for name in groups:
        codes = groups[name].to_numpy()
        counts = np.bincount(codes + 1)[1:]
        place = np.where(counts >= 5, np.cumsum(counts >= 5) - 1, -1)[codes]
        rows = np.flatnonzero(place >= 0)
        shape = (len(codes), int((counts >= 5).sum()))
        parts.append(sparse.csr_matrix((np.full(len(rows), weight, np.float32), (rows, place[rows])), shape=shape))
    return sparse.hstack(parts, format="csr", dtype=np.float32)


def yearly_waves(both: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """Where in the year dates lie, as smooth waves."""
    found: dict[str, pd.Series] = {}
    for name in names:
        angle = 2 * np.pi * pd.to_datetime(both[name], errors="coerce").dt.dayofyear / 365.25
        for turns in (1, 2):
            found |= {f"{name} sine {turns}": np.sin(turns * angle), f"{name} cosine {turns}": np.cos(turns * angle)}
    return pd.DataFrame(found, index=both.index)


def cross_predicted(
    fit: RowFit, aim: np.ndarray, folds: RowFolds, total: int, *, until: float = 0.8
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Predictions of train rows by models that had not seen them, of test rows by all models, and which rows have one.

    Args:
        total: the number of rows; those after the train rows are the test rows.
        until: the part of the script's time by which it should be done; folds that do not fit in are left out.
    """
    oof: np.ndarray | None = None
    guesses, done, started = [], np.zeros(len(aim), dtype=bool), time_used()
    for number, (learn, check) in enumerate(folds):
        if number and time_used() + (time_used() - started) / number > until:
            break
        predicted = fit(learn, aim[learn], SEED + number)(np.r_[check, np.arange(len(aim), total)])
        oof = np.zeros((len(aim), *predicted.shape[1:])) if oof is None else oof
        oof[check], done[check] = predicted[: len(check)], True
        guesses.append(predicted[len(check) :])
    assert oof is not None
    return oof, np.mean(guesses, axis=0), done


def linear_rows(table: sparse.csr_matrix, freedom: float, *, ratios: bool = False) -> RowFit:
    """How linear models of the rows of a table are made: logistic regression of classes, ridge regression of numbers.

    Args:
        freedom: how freely weights may grow.
        ratios: whether each class is told from the rest by columns weighed by how much more common they are in it.
    """

    def fit(rows: np.ndarray, aim: np.ndarray, seed: int) -> RowModel:
        if aim.dtype.kind != "i":
            model = Ridge(alpha=1 / freedom, solver="sparse_cg", tol=1e-3).fit(table[rows], aim)
            return lambda others: np.asarray(model.predict(table[others]))
        if aim.ndim > 1:
            each = [one_class(table, rows, column, freedom, ratios) for column in aim.T]
            return lambda others: np.column_stack([model(others) for model in each])
        if aim.max() <= 1:
            return one_class(table, rows, aim, freedom, ratios)
        if ratios:
            each = [one_class(table, rows, (aim == place) + 0, freedom, ratios) for place in range(aim.max() + 1)]
            return lambda others: adding_up(np.column_stack([model(others) for model in each]))
        whole = predictor(LogisticRegression(C=freedom, max_iter=100, tol=1e-3).fit(table[rows], aim), aim)
        return lambda others: whole(table[others])

    return fit


def one_class(table: Any, rows: np.ndarray, aim: np.ndarray, freedom: float, ratios: bool) -> RowModel:
    """A logistic regression of yes (1) and no (0)."""
    if aim.min() == aim.max():
        return lambda others: np.full(len(others), float(aim[0]))
    weights = log_ratios(table[rows], aim) if ratios else np.ones(table.shape[1], np.float32)
    weighed = table @ sparse.diags(weights)
    model = LogisticRegression(C=freedom, max_iter=100, tol=1e-3).fit(weighed[rows], aim)
    return lambda others: np.asarray(model.predict_proba(weighed[others])[:, 1])


def log_ratios(table: Any, aim: np.ndarray) -> np.ndarray:
    """How much more common each column is where the aim is 1, as a logarithm of the ratio."""
    yes, no = (np.asarray(abs(table[aim == value]).sum(axis=0)).ravel() + 1 for value in (1, 0))
    return np.asarray(np.log(yes / yes.sum()) - np.log(no / no.sum()), dtype=np.float32)


def adding_up(chances: np.ndarray) -> np.ndarray:
    """Chances of classes, made to add up to one."""
    return np.asarray(chances / np.maximum(chances.sum(axis=1, keepdims=True), 1e-9))


def best_freedom(
    make: Callable[[float], RowFit], aim: np.ndarray, folds: RowFolds, freedoms: list[float], *, until: float = 0.35
) -> float:
    """The freedom with which a model does best on the first fold; trying ends when it gets worse or time is short."""
    learn, check = folds[0]
    best, chosen = np.inf, freedoms[0]
    for freedom in freedoms:
        missed = misfit(aim[check], make(freedom)(learn, aim[learn], SEED)(check))
        print("freedom", freedom, "misses by", round(missed, 5), flush=True)
        if missed > best:
            break
        best, chosen = missed, freedom
        if time_used() > until:
            break
    return chosen


def misfit(aim: np.ndarray, predicted: np.ndarray) -> float:
    """How far predictions are off: the mean square for numbers, the logarithmic loss for classes."""
    if aim.dtype.kind != "i":
        return float(np.mean((aim - predicted) ** 2))
    if predicted.ndim > aim.ndim:
        return float(-np.mean(np.log(np.clip(predicted[np.arange(len(aim)), aim], 1e-9, 1))))
    likely = np.clip(np.where(aim > 0, predicted, 1 - predicted), 1e-9, 1)
    return float(-np.mean(np.log(likely)))


def topics(table: sparse.csr_matrix, count: int) -> pd.DataFrame:
    """The main directions in which texts differ, and where each text lies in these."""
    count = max(1, min(count, min(table.shape) - 1))
    found = TruncatedSVD(count, random_state=SEED).fit_transform(table)
    return pd.DataFrame(found, columns=[f"topic {place + 1}" for place in range(count)])
