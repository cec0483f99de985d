"""Winnowing: the fingerprints of documents, and the number that each pair shares.

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
MAX_COMMON_SHARE = 0.2
"""Largest share of the authors that may have a fingerprint before it counts as boilerplate."""
MAX_SHARING_AUTHORS = 3
"""Number of authors that may share a fingerprint in any case before it counts as boilerplate."""
_BASE = np.uint64(0x9E3779B97F4A7C15)

Hashes = npt.NDArray[np.uint64]
Places = npt.NDArray[np.int64]
Shares = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Fingerprints:
    """Fingerprints of a document."""

    hashes: Hashes
    places: Places
    """Token at which each fingerprint begins."""
    lines: Places
    """Line of every token."""

    def span(self, first: int, last: int) -> tuple[int, int]:
        """Return the first and the last line of the passage between two positions."""
        return int(self.lines[first]), int(self.lines[min(last + GRAM, len(self.lines)) - 1])


def fingerprint(source: str) -> Fingerprints:
    """Return the fingerprints of Python source."""
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
    return hashes * _BASE  # the low bits of the sum alone depend little on the first tokens


def _winnow(grams: Hashes) -> Places:
    """Return the distinct positions of the smallest hash of each window, the last of equal ones."""
    if len(grams) < WINDOW:
        return np.arange(len(grams))
    windows = np.lib.stride_tricks.sliding_window_view(grams, WINDOW)
    last_smallest = WINDOW - 1 - windows[:, ::-1].argmin(axis=1)
    return np.unique(np.arange(len(windows)) + last_smallest)


def boilerplate(
    documents: Sequence[Fingerprints], authors: Sequence[str], starters: Sequence[Fingerprints] = ()
) -> Hashes:
    """Return fingerprints that do not indicate copying: those of starter files, and those of many authors.

    Args:
        authors: author of each document; all documents of one author count once.
        starters: files that all authors started from.
    """
    of_author: dict[str, list[Hashes]] = {}
    for document, author in zip(documents, authors, strict=True):
        of_author.setdefault(author, []).append(document.hashes)
    per_author = [np.unique(np.concatenate(hashes)) for hashes in of_author.values()]
    values, counts = np.unique(np.concatenate([*per_author, np.empty(0, np.uint64)]), return_counts=True)
    common = values[counts > max(MAX_SHARING_AUTHORS, MAX_COMMON_SHARE * len(of_author))]
    return np.unique(np.concatenate([common, *(document.hashes for document in starters)]))


def shared_counts(documents: Sequence[Fingerprints], ignored: Hashes) -> tuple[Shares, Shares]:
    """Return the number of distinct fingerprints that each pair of documents shares, and the number that each has."""
    from scipy.sparse import csr_array

    kept = [np.setdiff1d(document.hashes, ignored) for document in documents]
    sizes = np.array([len(hashes) for hashes in kept])
    values, columns = np.unique(np.concatenate([*kept, np.empty(0, np.uint64)]), return_inverse=True)
    rows = np.repeat(np.arange(len(kept)), sizes)
    table = csr_array((np.ones(len(rows), np.float32), (rows, columns)), shape=(len(kept), len(values)))
    return np.asarray((table @ table.T).todense(), dtype=float), sizes.astype(float)
