"""Whether metadata predicts answers better than chance: a simple model against shuffled answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium.integrity.audit.file_metadata import OF_ROWS, Rows

Array = npt.NDArray[np.float64]
FEWEST_ROWS = 5
AT_ONCE = 500
"""Shuffles that are tried together; the number of all is a multiple of it."""
CONTENT = "st_size"
"""A file's size is part of its content, which agents are meant to use."""


@dataclass(frozen=True)
class MetadataPrediction:
    """How well one sort of metadata predicts the answers."""

    rows: int
    best: str
    """The most telling fact."""
    strength: float
    """How close its relation to the answers is: 0 none, 1 perfect."""
    p: float
    """The share of shuffled answers that are predicted as well."""


def predict(observed: Sequence[Rows], *, files: bool, shuffles: int) -> MetadataPrediction:
    """Predicts answers from each fact, of rows or of their files, by its rank and from the row before it in the order
    of that fact; the best prediction is compared with those of shuffled answers.
    """
    names = sorted({str(name) for rows in observed for name in rows.facts})
    names = [name for name in names if name.startswith(OF_ROWS) != files and not name.startswith(CONTENT)]
    targets = sorted({str(name) for rows in observed for name in rows.answers})
    parts = [
        (_ranks(rows.facts.reindex(columns=names)), _ranks(rows.answers.reindex(columns=targets)))
        for rows in observed
        if len(rows.facts) >= FEWEST_ROWS
    ]
    if not parts or not names:
        return MetadataPrediction(0, "", 0.0, 1.0)
    longest = max(len(answers) for _, answers in parts)
    found = _strengths(parts, np.arange(longest)[None])[0]
    best = int(found.argmax())
    rng, as_good = np.random.default_rng(0), 0
    for _ in range(0, shuffles, AT_ONCE):
        by_chance = _strengths(parts, rng.random((AT_ONCE, longest))).max(axis=1)
        as_good += int((by_chance >= found[best] - 1e-9).sum())
    rows = sum(len(answers) for _, answers in parts)
    return MetadataPrediction(rows, (names * 2)[best], round(float(found[best]), 2), (1 + as_good) / (1 + shuffles))


def _strengths(parts: Sequence[tuple[Array, Array]], keys: npt.NDArray[Any]) -> Array:
    """For each shuffle, which is a list of keys to sort by, the strength of each fact by rank, then by neighbour.

    Rows are shuffled alike in all preparations: a split by a constant seed may give a row the same answer in each.
    """
    sums = [_relations(facts, answers[np.argsort(keys[:, : len(answers)], axis=1)]) for facts, answers in parts]
    strengths: Array = np.abs(np.sum(sums, axis=0)).max(axis=2) / sum(len(answers) for _, answers in parts)
    return strengths


def _relations(facts: Array, answers: Array) -> Array:
    """For each shuffle, fact and answer: the sum of products of both, then of neighbours in the order of the fact."""
    by_rank = np.einsum("nf,snt->sft", facts, answers)
    by_neighbour = np.zeros_like(by_rank)
    for number, fact in enumerate(facts.T):
        if np.ptp(fact) > 0:
            order = np.argsort(fact, kind="stable")
            by_neighbour[:, number] = np.einsum("snt,snt->st", answers[:, order[:-1]], answers[:, order[1:]])
    return np.concatenate([by_rank, by_neighbour], axis=1)


def _ranks(table: pd.DataFrame) -> Array:
    """Columns as ranks with mean 0 and deviation 1; what is missing, or the same everywhere, is 0."""
    ranks = table.rank()
    spread = ranks.std(ddof=0)
    return ((ranks - ranks.mean()) / spread.where(spread > 0)).fillna(0.0).to_numpy(dtype=float)
