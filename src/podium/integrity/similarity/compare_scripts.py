"""Comparison of scripts: pairs of similar documents, and the passages they share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from podium.integrity.similarity import fingerprints
from podium.integrity.similarity.documents import Document
from podium.integrity.similarity.fingerprints import GRAM, WINDOW, Fingerprints, Hashes, fingerprint

MIN_SIMILARITY = 0.3
"""Smallest share of the smaller document's fingerprints in the other that calls for inspection."""
MIN_SHARED = 10
"""Smallest number of shared fingerprints; two short scripts have a few in common by chance."""
_MAX_GAP = 2 * (GRAM + WINDOW)
"""Largest number of tokens between two shared fingerprints of one passage."""


class Passage(NamedTuple):
    """Corresponding lines of two documents, first and last included."""

    left: tuple[int, int]
    right: tuple[int, int]


class Pair(NamedTuple):
    """Two similar documents of different authors."""

    left: Document
    right: Document
    similarity: float
    """Share of the smaller one's fingerprints that the other has too, boilerplate left out."""
    shared: int
    """Number of fingerprints that both have."""
    passages: tuple[Passage, ...]


def find_similar(
    left: Sequence[Document],
    right: Sequence[Document] = (),
    *,
    starters: Sequence[str] = (),
    threshold: float = MIN_SIMILARITY,
) -> list[Pair]:
    """Return the pairs of similar documents, the most similar first, with only the closest pair for two authors.

    Args:
        left: documents to compare with each other and with `right`.
        right: further documents, such as public notebooks, which are not compared with each other.
        starters: source that all authors started from, which does not count as shared.
    """
    documents = [*left, *right]
    prints = [fingerprint(document.source) for document in documents]
    authors = [document.author for document in documents]
    ignored = fingerprints.boilerplate(prints, authors, [fingerprint(source) for source in starters])
    shared, sizes = fingerprints.shared_counts(prints, ignored)
    smaller = np.maximum(np.minimum(sizes[:, None], sizes[None]), 1)
    similarity = np.where(shared >= MIN_SHARED, shared / smaller, 0.0)
    best: dict[tuple[str, str], tuple[int, int]] = {}
    rows, columns = np.nonzero(np.triu(similarity >= threshold, 1)[: len(left)])
    for row, column in sorted(zip(rows, columns, strict=True), key=lambda pair: -similarity[pair]):
        if authors[row] != authors[column]:
            best.setdefault((authors[row], authors[column]), (int(row), int(column)))
    found = []
    for one, other in best.values():
        passages = find_passages(prints[one], prints[other], ignored)
        alike = round(float(similarity[one, other]), 4)
        found.append(Pair(documents[one], documents[other], alike, int(shared[one, other]), passages))
    return found


def find_passages(left: Fingerprints, right: Fingerprints, ignored: Hashes) -> tuple[Passage, ...]:
    """Return the passages that two documents share: fingerprints that follow each other in both."""
    of_right: dict[int, list[int]] = {}
    for value, place in zip(right.hashes.tolist(), right.places.tolist(), strict=True):
        of_right.setdefault(value, []).append(place)
    ignored_values = set(ignored.tolist())
    chains: list[list[tuple[int, int]]] = []
    for value, place in zip(left.hashes.tolist(), left.places.tolist(), strict=True):
        if value in of_right and value not in ignored_values:
            _extend(chains, place, of_right[value])
    return tuple(_passage(chain, left, right) for chain in chains)


def _extend(chains: list[list[tuple[int, int]]], place: int, others: list[int]) -> None:
    """Add a shared fingerprint to the last chain if it continues that one, or else start another."""
    if chains:
        last, last_other = chains[-1][-1]
        following = [other for other in others if 0 <= other - last_other <= _MAX_GAP]
        if following and place - last <= _MAX_GAP:
            chains[-1].append((place, following[0]))
            return
    chains.append([(place, others[0])])


def _passage(chain: list[tuple[int, int]], left: Fingerprints, right: Fingerprints) -> Passage:
    (first, first_other), (last, last_other) = chain[0], chain[-1]
    return Passage(left.span(first, last), right.span(first_other, last_other))
