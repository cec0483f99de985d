"""Which documents are copies of which, and which passages they share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from podium.integrity.similarity import fingerprints
from podium.integrity.similarity.documents import Document
from podium.integrity.similarity.fingerprints import GRAM, WINDOW, Fingerprints, Hashes, fingerprint

SIMILAR = 0.3
"""Share of the smaller document's fingerprints that the other has: from here on a person should look."""
FEWEST_SHARED = 10
"""Fingerprints; two short scripts have a few in common by chance."""
_GAP = 2 * (GRAM + WINDOW)
"""Tokens between two shared fingerprints of one passage."""


class Passage(NamedTuple):
    """Lines of two documents that correspond, first and last included."""

    left: tuple[int, int]
    right: tuple[int, int]


class Pair(NamedTuple):
    """Two documents of different authors that have much in common."""

    left: Document
    right: Document
    similarity: float
    """Share of the smaller one's fingerprints that the other has too, boilerplate left out."""
    shared: int
    """Fingerprints that both have."""
    passages: tuple[Passage, ...]


def find_similar(
    left: Sequence[Document],
    right: Sequence[Document] = (),
    *,
    given: Sequence[str] = (),
    threshold: float = SIMILAR,
) -> list[Pair]:
    """The pairs of similar documents, the most similar first; of two authors only the closest pair.

    Args:
        left: compared with each other, and with `right`.
        right: such as public notebooks; these are not compared with each other.
        given: source that all had to begin with; to have it in common means nothing.
    """
    documents = [*left, *right]
    prints = [fingerprint(document.source) for document in documents]
    authors = [document.author for document in documents]
    ignored = fingerprints.boilerplate(prints, authors, [fingerprint(source) for source in given])
    shared, sizes = fingerprints.shared_counts(prints, ignored)
    smaller = np.maximum(np.minimum(sizes[:, None], sizes[None]), 1)
    similarity = np.where(shared >= FEWEST_SHARED, shared / smaller, 0.0)
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
    """The passages that two documents share: fingerprints that follow each other in both."""
    of_right: dict[int, list[int]] = {}
    for value, place in zip(right.hashes.tolist(), right.places.tolist(), strict=True):
        of_right.setdefault(value, []).append(place)
    boring = set(ignored.tolist())
    chains: list[list[tuple[int, int]]] = []
    for value, place in zip(left.hashes.tolist(), left.places.tolist(), strict=True):
        if value in of_right and value not in boring:
            _extend(chains, place, of_right[value])
    return tuple(_passage(chain, left, right) for chain in chains)


def _extend(chains: list[list[tuple[int, int]]], place: int, others: list[int]) -> None:
    """Adds a shared fingerprint to the last chain if it goes on there, else begins another."""
    if chains:
        last, last_other = chains[-1][-1]
        following = [other for other in others if 0 <= other - last_other <= _GAP]
        if following and place - last <= _GAP:
            chains[-1].append((place, following[0]))
            return
    chains.append([(place, others[0])])


def _passage(chain: list[tuple[int, int]], left: Fingerprints, right: Fingerprints) -> Passage:
    (first, first_other), (last, last_other) = chain[0], chain[-1]
    return Passage(left.span(first, last), right.span(first_other, last_other))
