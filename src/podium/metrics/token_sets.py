"""Blank-separated texts as flat arrays of numbers: sets and lists of words are compared without loops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from podium.metrics.input_checks import BoolArray, IntArray

_WIDTH = 8
"""Number of bytes of a word that are compared as one number."""
# White space of str.split: single bytes of UTF-8, then longer sequences.
_BLANKS = np.isin(np.arange(256), [*range(9, 14), *range(28, 33)])
_MULTIBYTE_BLANKS = tuple(
    chr(code).encode() for code in (0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000)
)
_ROWS_OF_A_PART = 20_000
"""Number of rows per part, small enough for intermediate arrays to fit into the CPU cache."""


@dataclass(frozen=True)
class Tokens:
    """Words of a column of texts, concatenated."""

    code: IntArray
    """Number of each word, below `vocabulary`."""
    counts: IntArray
    """Number of words of each row."""
    vocabulary: int

    @cached_property
    def row(self) -> IntArray:
        """Row of each word."""
        return np.repeat(np.arange(len(self.counts)), self.counts)

    @cached_property
    def key(self) -> IntArray:
        """Row and word of each in one number."""
        return self.row * self.vocabulary + self.code

    def places(self, words: IntArray) -> IntArray:
        """Return the positions of words in their rows, from 0."""
        before = np.cumsum(self.counts) - self.counts
        return words - before[self.row[words]]

    def where(self, chosen: BoolArray) -> Tokens:
        """Return the chosen words, with unchanged row numbers."""
        counts = np.bincount(self.row[chosen], minlength=len(self.counts))
        return Tokens(self.code[chosen], counts, self.vocabulary)


@dataclass(frozen=True)
class WordPairs:
    """The distinct words of each row."""

    key: IntArray
    """Row and word in one number, ascending."""
    vocabulary: int
    count: int
    """Number of rows, the empty ones included."""

    def sizes(self) -> IntArray:
        """Number of distinct words of each row."""
        return np.bincount(self.key // self.vocabulary, minlength=self.count)

    def where(self, chosen: BoolArray) -> WordPairs:
        return WordPairs(self.key[chosen], self.vocabulary, self.count)

    def contain(self, keys: IntArray) -> BoolArray:
        """Which of the keys are among these pairs."""
        if len(self.key) == 0:
            return np.zeros(len(keys), dtype=np.bool_)
        places = np.searchsorted(self.key, keys)
        found: BoolArray = self.key[np.minimum(places, len(self.key) - 1)] == keys
        return found


@dataclass(frozen=True)
class _Words:
    """The words of texts, laid end to end and cut into pieces of at most `_WIDTH` bytes."""

    pieces: NDArray[np.uint64]
    sizes: IntArray
    """Number of pieces of each word."""
    counts: IntArray
    """Number of words of each text."""


def encode(truth: list[str], prediction: list[str]) -> tuple[Tokens, Tokens]:
    """Split two columns of texts at blanks, with one numbering of words for both."""
    words = _split(truth + prediction)
    code, vocabulary = _number(words)
    border = words.counts[: len(truth)].sum()
    return (
        Tokens(code[:border], words.counts[: len(truth)], vocabulary),
        Tokens(code[border:], words.counts[len(truth) :], vocabulary),
    )


def encode_parts(truth: list[str], prediction: list[str]) -> Iterator[tuple[Tokens, Tokens]]:
    """Split two columns as `encode` does, some rows at a time; each part has its own numbering."""
    for start in range(0, len(truth), _ROWS_OF_A_PART):
        part = slice(start, start + _ROWS_OF_A_PART)
        yield encode(truth[part], prediction[part])


def _split(texts: list[str]) -> _Words:
    letters, lengths_of_texts = _lay_end_to_end(texts)
    is_blank = _BLANKS[letters]
    edges = np.flatnonzero(is_blank[1:] != is_blank[:-1]) + 1
    begins, lengths = edges[0::2], edges[1::2] - edges[0::2]
    counts = np.diff(np.searchsorted(begins, np.cumsum(lengths_of_texts + 1)), prepend=0)
    sizes = (lengths + _WIDTH - 1) // _WIDTH
    if np.any(sizes > 1):
        skipped = _count_up(sizes) * _WIDTH
        begins, lengths = np.repeat(begins, sizes) + skipped, np.repeat(lengths, sizes) - skipped
    return _Words(_read_pieces(letters, begins, np.minimum(lengths, _WIDTH)), sizes, counts)


def _lay_end_to_end(texts: list[str]) -> tuple[NDArray[np.uint8], IntArray]:
    """Return the bytes of the texts, none of them zero, with blanks around each, and the length of each in bytes."""
    rows: Sequence[str | bytes] = texts
    joined = f" {' '.join(texts)}{' ' * _WIDTH}".encode("utf-8", "surrogatepass")
    if not joined.isascii():
        rows = [text.encode("utf-8", "surrogatepass") for text in texts]
        for blank in _MULTIBYTE_BLANKS:
            joined = joined.replace(blank, b" " * len(blank))
    lengths = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
    return np.frombuffer(joined.replace(b"\0", b"\xff"), dtype=np.uint8), lengths  # UTF-8 has no byte 255


def _read_pieces(letters: NDArray[np.uint8], begins: IntArray, lengths: IntArray) -> NDArray[np.uint64]:
    """Return pieces of the letters as numbers, padded with zero bytes."""
    from_each_letter = np.ndarray((len(letters) - _WIDTH + 1,), dtype="<u8", buffer=letters, strides=(1,))
    bits_beyond = 8 * (_WIDTH - lengths)
    pieces: NDArray[np.uint64] = np.left_shift(from_each_letter[begins], bits_beyond.astype(np.uint64))
    return pieces


def _number(words: _Words) -> tuple[IntArray, int]:
    """Equal numbers for equal words, and how many there are.

    Pieces are numbered, then pairs of neighbours within a word, then pairs of these, until each word has one number.
    """
    import pandas as pd

    sizes = words.sizes
    codes, distinct = pd.factorize(words.pieces.view(np.int64))
    while np.any(sizes > 1):
        ends = np.cumsum(sizes)
        halves = (sizes + 1) // 2
        left = np.repeat(ends - sizes, halves) + 2 * _count_up(halves)
        has_right = left + 1 < np.repeat(ends, halves)
        right = np.where(has_right, codes[np.minimum(left + 1, len(codes) - 1)], len(distinct))
        codes, distinct = pd.factorize(codes[left] * (len(distinct) + 1) + right)
        sizes = halves
    return codes, len(distinct)


def _count_up(counts: IntArray) -> IntArray:
    """Return the numbers from 0 to below each count, end to end."""
    ends = np.cumsum(counts)
    return np.arange(counts.sum()) - np.repeat(ends - counts, counts)


def unique_pairs(tokens: Tokens) -> WordPairs:
    """Return the set of words of each row."""
    key = np.sort(tokens.key)
    is_new = np.append(True, key[1:] != key[:-1])[: len(key)]
    return WordPairs(key[is_new], tokens.vocabulary, len(tokens.counts))
