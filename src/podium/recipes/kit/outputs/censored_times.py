"""Times until something happens, of which a negative one says that nothing had happened until then."""

import numpy as np

MAX_EVENTS = 500
"""Largest number of rows compared with all others, because a score is computed hundreds of times in a script."""


def excess_events(truth: np.ndarray) -> np.ndarray:
    """For each row whether it happened, less how often it had been due by then: a risk that any model can learn."""
    time, happened = np.abs(truth), truth > 0
    order = np.argsort(time, kind="stable")
    due = np.empty(len(time))
    due[order] = np.cumsum(happened[order] / np.arange(len(time), 0, -1))
    return np.asarray(happened - due)


def concordance(truth: np.ndarray, risk: np.ndarray) -> float:
    """Return the share of row pairs in which the row with the higher risk has its event first."""
    events = np.flatnonzero(truth > 0)
    events = events[:: max(1, len(events) // MAX_EVENTS)]
    is_later = np.abs(truth)[None, :] > truth[events, None]
    difference = risk[events, None] - risk[None, :]
    right = np.sum(is_later & (difference > 0)) + 0.5 * np.sum(is_later & (difference == 0))
    return float(right / max(1, is_later.sum()))
