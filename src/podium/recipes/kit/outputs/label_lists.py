"""Lists of the labels that apply to a row, from the chance of each."""

import numpy as np


def listed_f1(truth: np.ndarray, named: np.ndarray) -> float:
    """The mean over rows of the F1 of the labels named; 1 where there are none and none is named."""
    common, total = (truth.astype(bool) & named).sum(axis=1), truth.sum(axis=1) + named.sum(axis=1)
    return float(np.mean(np.where(total == 0, 1.0, 2 * common / np.maximum(total, 1))))


def best_list_cut(truth: np.ndarray, oof: np.ndarray) -> float:
    """The chance from which on naming a label scores best."""
    cuts = np.linspace(0.1, 0.7, 61)
    return float(cuts[int(np.argmax([listed_f1(truth, named_labels(truth, oof, cut)) for cut in cuts]))])


def named_labels(truth: np.ndarray, chances: np.ndarray, cut: float) -> np.ndarray:
    """Which labels are named: those likely enough, and the likeliest of a row where every row of train has one."""
    named = chances > cut
    if truth.any(axis=1).all():
        named |= (chances == chances.max(axis=1, keepdims=True)) & ~named.any(axis=1, keepdims=True)
    return named
