"""Statistics of token probabilities: familiarity of a text, and its correlation with performance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

MAX_POSITIONS = 1_000
TOP = 10
REPEATS = 2_000


@dataclass(frozen=True)
class Token:
    """Token of a text, with the model's expectations before it."""

    logprob: float
    top: tuple[float, ...]
    """Log-probabilities of the most expected tokens, the largest first."""


def mean_probability(tokens: Sequence[Token], *, seed: int = 0) -> float:
    """Return MLE-bench's statistic: the mean probability of the true token at random positions, 0 outside the top."""
    chosen = np.random.default_rng(seed).permutation(len(tokens))[:MAX_POSITIONS]
    expected = [tokens[place] for place in chosen]
    found = [
        math.exp(token.logprob) if token.logprob >= min(token.top[:TOP], default=0.0) else 0.0 for token in expected
    ]
    return float(np.mean(found)) if found else 0.0


def min_k_plus_plus(tokens: Sequence[Token], *, share: float = 0.2) -> float:
    """Return Min-K%++ (Zhang et al. 2024): the mean standardised log-probability of the least expected tokens.

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
    """Correlation between a model's familiarity with tasks and its performance on them."""

    r: float
    interval: tuple[float, float]
    """95 % interval, by a bootstrap over tasks."""
    tasks: int


def correlation(familiarity: Sequence[float], performance: Sequence[float], *, seed: int = 0) -> Correlation | None:
    """Return Pearson's correlation, or None for fewer than four tasks or a constant variable."""
    pairs = np.array([familiarity, performance], dtype=float)
    if pairs.shape[1] < 4 or np.ptp(pairs, axis=1).min() == 0:
        return None
    draws = np.random.default_rng(seed).integers(0, pairs.shape[1], (REPEATS, pairs.shape[1]))
    resampled = [np.corrcoef(pairs[:, draw])[0, 1] for draw in draws if np.ptp(pairs[:, draw], axis=1).min() > 0]
    low, high = np.percentile(resampled, [2.5, 97.5])
    return Correlation(float(np.corrcoef(pairs)[0, 1]), (float(low), float(high)), pairs.shape[1])


def normalised_score(score: float | None, *, sample: float, gold: float) -> float:
    """Return MLE-bench's performance: 0 for the sample submission or no score, 1 for gold."""
    return 0.0 if score is None or gold == sample else (score - sample) / (gold - sample)
