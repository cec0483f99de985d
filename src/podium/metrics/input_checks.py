"""Input checks of all metrics, and shared arithmetic.

A `ValueError` from here is a mistake of the caller; the content of submissions is checked before metrics are called.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain, islice
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from podium.errors import InvalidSubmission

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

MIN_WORD_LIMIT = 10_000_000
"""Number of words that is always accepted: detectors may list hundreds of boxes where the truth has one."""
WORDS_MULTIPLE = 20
"""Maximum number of words of predictions beyond that, per word and row of the truth."""
_WORD = re.compile(r"\S+")


def paired(truth: ArrayLike, prediction: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return both sides as arrays of the same shape with at least one row."""
    left, right = np.asarray(truth), np.asarray(prediction)
    if left.shape != right.shape:
        raise ValueError(f"truth has shape {left.shape} and prediction {right.shape}; expected the same")
    check_rows(left)
    return left, right


def numbers(truth: ArrayLike, prediction: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return both sides as float64 arrays of the same shape, with one axis (rows) or two (rows, columns)."""
    left, right = paired(truth, prediction)
    if left.ndim > 2:
        raise ValueError(f"truth has {left.ndim} axes; expected rows, or rows and columns")
    return left.astype(np.float64, copy=False), right.astype(np.float64, copy=False)


def flags(values: ArrayLike) -> BoolArray:
    """Return values that are all 0 or 1 (or already boolean) as booleans."""
    array = np.asarray(values)
    if array.dtype == np.bool_:
        return array
    positive: BoolArray = array == 1
    if not np.all(positive | (array == 0)):
        raise ValueError("expected only 0 and 1, or booleans")
    return positive


def as_texts(values: ArrayLike) -> list[str]:
    """Return a column of text as a list of strings."""
    array = np.asarray(values, dtype=object)
    if array.ndim != 1:
        raise ValueError(f"text has {array.ndim} axes; expected one text per row")
    rows: list[str] = array.tolist()
    if strange := {kind for kind in set(map(type, rows)) if not issubclass(kind, str)}:
        raise ValueError(f"expected text, found {', '.join(sorted(kind.__name__ for kind in strange))}")
    return rows


def paired_texts(truth: ArrayLike, prediction: ArrayLike) -> tuple[list[str], list[str]]:
    """Return both sides as lists of text of the same length with at least one row."""
    left, right = as_texts(truth), as_texts(prediction)
    if len(left) != len(right):
        raise ValueError(f"truth has {len(left)} rows and prediction {len(right)}; expected the same")
    if not left:
        raise ValueError("expected at least one row")
    _check_words(left, right)
    return left, right


def _check_words(truth: list[str], prediction: list[str]) -> None:
    """Raise InvalidSubmission for far too many words, before they are split: a string takes 20 times its letters."""
    if sum(map(len, prediction)) < 2 * MIN_WORD_LIMIT:
        return
    most = max(MIN_WORD_LIMIT, WORDS_MULTIPLE * (len(truth) + sum(len(text.split()) for text in truth)))
    words = chain.from_iterable(map(_WORD.finditer, prediction))
    if next(islice(words, most, None), None) is not None:
        raise InvalidSubmission(f"The texts have more than {most:,} words in total. Write fewer words per row.")


def check_rows(array: NDArray[Any]) -> None:
    """Raise ValueError for an array without rows."""
    if array.ndim == 0 or array.size == 0:
        raise ValueError(f"found shape {array.shape}; expected at least one row")


class RowNumbers(Sequence[str]):
    """Lazy sequence of default row names in messages: row 1, row 2, …"""

    def __init__(self, count: int) -> None:
        self._rows = range(1, count + 1)

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, row: Any) -> Any:
        return f"row {self._rows[row]}"


def ratio(numerator: ArrayLike, denominator: ArrayLike, *, empty: float) -> FloatArray:
    """Return the elementwise quotient, with a given value where the denominator is zero."""
    below = np.asarray(denominator, dtype=np.float64)
    out = np.full(below.shape, empty, dtype=np.float64)
    return np.divide(numerator, below, out=out, where=below != 0)
