"""How familiar a text is to a model, from the probabilities of its tokens, and whether that goes with performance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

MOST_POSITIONS = 1_000
TOP = 10
REPEATS = 2_000


@dataclass(frozen=True)
class Token:
    """A token of a text as a model saw it coming."""

    logprob: float
    top: tuple[float, ...]
    """The log-probabilities of what the model expected most, the largest first."""


def mean_probability(tokens: Sequence[Token], *, seed: int = 0) -> float:
    """MLE-bench's statistic: the mean probability of the true token at random places, 0 where it is not in the top."""
    chosen = np.random.default_rng(seed).permutation(len(tokens))[:MOST_POSITIONS]
    expected = [tokens[place] for place in chosen]
    found = [
        math.exp(token.logprob) if token.logprob >= min(token.top[:TOP], default=0.0) else 0.0 for token in expected
    ]
    return float(np.mean(found)) if found else 0.0


def min_k_plus_plus(tokens: Sequence[Token], *, share: float = 0.2) -> float:
    """Min-K%++ (Zhang et al. 2024): how far the least expected tokens lie above what the model expects on average.

    The mean and spread over the vocabulary are taken over the tokens that the model names, by their probabilities.
    """
    scores = [_standardised(token) for token in tokens if len(token.top) > 1]
    if not scores:
        return math.nan
    return float(np.mean(sorted(scores)[: max(1, int(share * len(scores)))]))


def _standardised(token: Token) -> float:
    logs = np.array(token.top)
    weights = np.exp(logs) / np.exp(logs).sum()
    mean = float(weights @ logs)
    spread = math.sqrt(float(weights @ (logs - mean) ** 2))
    return (token.logprob - mean) / max(spread, 1e-6)


@dataclass(frozen=True)
class Correlation:
    """Whether tasks that a model is more familiar with go better."""

    r: float
    interval: tuple[float, float]
    """95 %, by a bootstrap over tasks."""
    tasks: int


def correlation(familiarity: Sequence[float], performance: Sequence[float], *, seed: int = 0) -> Correlation | None:
    """Pearson's correlation; None for fewer than four tasks, or where one of the two never changes."""
    pairs = np.array([familiarity, performance], dtype=float)
    if pairs.shape[1] < 4 or np.ptp(pairs, axis=1).min() == 0:
        return None
    draws = np.random.default_rng(seed).integers(0, pairs.shape[1], (REPEATS, pairs.shape[1]))
    resampled = [np.corrcoef(pairs[:, draw])[0, 1] for draw in draws if np.ptp(pairs[:, draw], axis=1).min() > 0]
    low, high = np.percentile(resampled, [2.5, 97.5])
    return Correlation(float(np.corrcoef(pairs)[0, 1]), (float(low), float(high)), pairs.shape[1])


def normalised_score(score: float | None, *, sample: float, gold: float) -> float:
    """MLE-bench's performance: 0 for the sample submission or no score, 1 for gold."""
    return 0.0 if score is None or gold == sample else (score - sample) / (gold - sample)
