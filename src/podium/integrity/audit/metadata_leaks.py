"""Metadata leaks: a permutation test of whether metadata predicts the answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from podium.integrity.audit.file_metadata import OF_ROWS, Rows

Array = npt.NDArray[np.float64]
MIN_ROWS = 5
BATCH = 500
"""Number of shuffles in one batch; the total is a multiple of it."""
FILE_SIZE = "st_size"
"""Prefix of file size, which is part of the content that agents are meant to use."""


@dataclass(frozen=True)
class MetadataPrediction:
    """Result of predicting the answers from one kind of metadata."""

    rows: int
    best: str
    """Most predictive fact."""
    strength: float
    """Strength of its relation to the answers: 0 none, 1 perfect."""
    p: float
    """Share of shuffled answers that are predicted as well."""


def predict(observed: Sequence[Rows], *, files: bool, shuffles: int) -> MetadataPrediction:
    """Predict answers from each fact of rows or of their files, by rank and from the neighbour in the order of that
    fact, and compare the best prediction with those of shuffled answers.
    """
    names = sorted({str(name) for rows in observed for name in rows.facts})
    names = [name for name in names if name.startswith(OF_ROWS) != files and not name.startswith(FILE_SIZE)]
    targets = sorted({str(name) for rows in observed for name in rows.answers})
    parts = [
        (_ranks(rows.facts.reindex(columns=names)), _ranks(rows.answers.reindex(columns=targets)))
        for rows in observed
        if len(rows.facts) >= MIN_ROWS
    ]
    if not parts or not names:
        return MetadataPrediction(0, "", 0.0, 1.0)
    longest = max(len(answers) for _, answers in parts)
    found = _strengths(parts, np.arange(longest)[None])[0]
    best = int(found.argmax())
    rng, as_good = np.random.default_rng(0), 0
    for _ in range(0, shuffles, BATCH):
        by_chance = _strengths(parts, rng.random((BATCH, longest))).max(axis=1)
        as_good += int((by_chance >= found[best] - 1e-9).sum())
    rows = sum(len(answers) for _, answers in parts)
    return MetadataPrediction(rows, (names * 2)[best], round(float(found[best]), 2), (1 + as_good) / (1 + shuffles))


def _strengths(parts: Sequence[tuple[Array, Array]], keys: npt.NDArray[Any]) -> Array:
    """Return, for each shuffle given as sort keys, the strength of each fact by rank, then by neighbour.

    Rows are shuffled alike in all preparations: a split by a constant seed may give a row the same answer in each.
    """
    sums = [_relations(facts, answers[np.argsort(keys[:, : len(answers)], axis=1)]) for facts, answers in parts]
    strengths: Array = np.abs(np.sum(sums, axis=0)).max(axis=2) / sum(len(answers) for _, answers in parts)
    return strengths


def _relations(facts: Array, answers: Array) -> Array:
    """Return, by shuffle, fact and answer, the sum of products of both, then of neighbours in the order of the fact."""
    by_rank = np.einsum("nf,snt->sft", facts, answers)
    by_neighbour = np.zeros_like(by_rank)
    for number, fact in enumerate(facts.T):
        if np.ptp(fact) > 0:
            order = np.argsort(fact, kind="stable")
            by_neighbour[:, number] = np.einsum("snt,snt->st", answers[:, order[:-1]], answers[:, order[1:]])
    return np.concatenate([by_rank, by_neighbour], axis=1)


def _ranks(table: pd.DataFrame) -> Array:
    """Return columns as ranks with mean 0 and standard deviation 1; missing and constant values become 0."""
    ranks = table.rank()
    spread = ranks.std(ddof=0)
    return ((ranks - ranks.mean()) / spread.where(spread > 0)).fillna(0.0).to_numpy(dtype=float)
