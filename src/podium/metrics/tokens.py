"""Blank-separated texts as flat arrays of numbers: sets and lists of words are compared without loops."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from itertools import count

import numpy as np

from podium.metrics._arrays import BoolArray, IntArray


@dataclass(frozen=True)
class Tokens:
    """The words of a column of texts, laid end to end."""

    row: IntArray
    position: IntArray
    """Place in the row, from 0."""
    code: IntArray
    """The word as a number below `vocabulary`."""
    vocabulary: int
    count: int
    """Number of rows, the empty ones included."""

    @property
    def key(self) -> IntArray:
        """Row and word in one number."""
        return self.row * self.vocabulary + self.code


@dataclass(frozen=True)
class Pairs:
    """The distinct words of each row."""

    key: IntArray
    """Row and word in one number, ascending."""
    vocabulary: int
    count: int
    """Number of rows, the empty ones included."""

    @property
    def code(self) -> IntArray:
        return self.key % self.vocabulary

    def sizes(self) -> IntArray:
        """How many distinct words each row has."""
        return np.bincount(self.key // self.vocabulary, minlength=self.count)

    def where(self, chosen: BoolArray) -> Pairs:
        return Pairs(self.key[chosen], self.vocabulary, self.count)

    def contain(self, keys: IntArray) -> BoolArray:
        """Which of the keys are among these pairs."""
        if len(self.key) == 0:
            return np.zeros(len(keys), dtype=np.bool_)
        places = np.searchsorted(self.key, keys)
        found: BoolArray = self.key[np.minimum(places, len(self.key) - 1)] == keys
        return found


def encode(truth: list[str], prediction: list[str]) -> tuple[Tokens, Tokens]:
    """Splits two columns of texts at blanks, with one numbering of words for both."""
    codes: defaultdict[str, int] = defaultdict(count().__next__)
    left, right = _tokens(truth, codes), _tokens(prediction, codes)
    return replace(left, vocabulary=len(codes)), replace(right, vocabulary=len(codes))


def _tokens(texts: list[str], codes: defaultdict[str, int]) -> Tokens:
    # One list of all words instead of one per row: millions of lists keep the garbage collector busy.
    mark, joined = _join(texts)
    words = joined.split()
    code = np.fromiter(map(codes.__getitem__, words), dtype=np.int64, count=len(words))
    is_mark = code == codes[mark]
    start = np.concatenate([[0], np.flatnonzero(is_mark) + 1])
    kept = np.flatnonzero(~is_mark)
    row = np.cumsum(is_mark)[kept]
    return Tokens(row, kept - start[row], code[kept], len(codes), len(texts))


def _join(texts: list[str]) -> tuple[str, str]:
    """A word that none of the texts holds, and the texts with it between them, to tell rows apart."""
    mark = "\0"
    while (joined := f" {mark} ".join(texts)).count(mark) != len(texts) - 1:
        mark += "\0"
    return mark, joined


def unique_pairs(tokens: Tokens) -> Pairs:
    """The set of words of each row."""
    key = np.sort(tokens.key)
    return Pairs(key[np.diff(key, prepend=-1) > 0], tokens.vocabulary, tokens.count)


def encode_sets(truth: list[str], prediction: list[str]) -> tuple[Pairs, Pairs]:
    """The sets of words of the rows of two columns, with one numbering for both."""
    left, right = encode(truth, prediction)
    return unique_pairs(left), unique_pairs(right)
