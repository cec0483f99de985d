"""Winnowing: the fingerprints of a document, and how much of them documents share, for all pairs at once.

Schleimer, Wilkerson, Aiken: Winnowing (2003). Every run of `GRAM` tokens is hashed; of `WINDOW` neighbouring hashes
the smallest is kept, so that two documents with `GRAM + WINDOW - 1` equal tokens in a row share at least one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from podium.integrity.similarity.python_tokens import CodeTokens, tokenise

GRAM, WINDOW = 12, 4
COMMON_SHARE = 0.2
"""Of the authors: what more of them than this share have is boilerplate and counts nothing."""
FEWEST_AUTHORS = 3
"""So many may have something in common before it can be called boilerplate."""
_BASE = np.uint64(0x9E3779B97F4A7C15)

Hashes = npt.NDArray[np.uint64]
Places = npt.NDArray[np.int64]
Shares = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Fingerprints:
    """What is kept of a document."""

    hashes: Hashes
    places: Places
    """The token each begins at."""
    lines: Places
    """The line of every token."""

    def span(self, first: int, last: int) -> tuple[int, int]:
        """The first and the last line of what two fingerprints enclose, told by their places."""
        return int(self.lines[first]), int(self.lines[min(last + GRAM, len(self.lines)) - 1])


def fingerprint(source: str) -> Fingerprints:
    """The fingerprints of Python source."""
    tokens = tokenise(source)
    grams = _hash_grams(tokens)
    places = _winnow(grams)
    return Fingerprints(grams[places], places, tokens.lines)


def _hash_grams(tokens: CodeTokens) -> Hashes:
    count = len(tokens.codes) - GRAM + 1
    if count <= 0:
        return np.empty(0, np.uint64)
    hashes = np.zeros(count, np.uint64)
    for offset in range(GRAM):
        hashes = hashes * _BASE + tokens.codes[offset : offset + count]
    hashes ^= hashes >> np.uint64(31)
    return hashes * _BASE  # low bits of the sum alone say little of the first tokens


def _winnow(grams: Hashes) -> Places:
    """The places of the smallest hash of each window, the last of equal ones, each once."""
    if len(grams) < WINDOW:
        return np.arange(len(grams))
    windows = np.lib.stride_tricks.sliding_window_view(grams, WINDOW)
    last_smallest = WINDOW - 1 - windows[:, ::-1].argmin(axis=1)
    return np.unique(np.arange(len(windows)) + last_smallest)


def boilerplate(
    documents: Sequence[Fingerprints], authors: Sequence[str], given: Sequence[Fingerprints] = ()
) -> Hashes:
    """Fingerprints that say nothing of a copy: those of files everybody was given, and those that many authors have.

    Args:
        authors: who wrote each document; all documents of one author count once.
        given: files that the authors had to begin with.
    """
    of_author: dict[str, list[Hashes]] = {}
    for document, author in zip(documents, authors, strict=True):
        of_author.setdefault(author, []).append(document.hashes)
    per_author = [np.unique(np.concatenate(hashes)) for hashes in of_author.values()]
    values, counts = np.unique(np.concatenate([*per_author, np.empty(0, np.uint64)]), return_counts=True)
    common = values[counts > max(FEWEST_AUTHORS, COMMON_SHARE * len(of_author))]
    return np.unique(np.concatenate([common, *(document.hashes for document in given)]))


def shared_counts(documents: Sequence[Fingerprints], ignored: Hashes) -> tuple[Shares, Shares]:
    """For every pair of documents how many distinct fingerprints they share, and how many each has."""
    from scipy.sparse import csr_array

    kept = [np.setdiff1d(document.hashes, ignored) for document in documents]
    sizes = np.array([len(hashes) for hashes in kept])
    values, columns = np.unique(np.concatenate([*kept, np.empty(0, np.uint64)]), return_inverse=True)
    rows = np.repeat(np.arange(len(kept)), sizes)
    table = csr_array((np.ones(len(rows), np.float32), (rows, columns)), shape=(len(kept), len(values)))
    return np.asarray((table @ table.T).todense(), dtype=float), sizes.astype(float)
