"""Scores: truth first, prediction second. Of several columns the mean is taken."""

import numpy as np
from scipy.stats import rankdata
from sklearn.metrics import cohen_kappa_score, f1_score, matthews_corrcoef


def roc_auc(truth: np.ndarray, guess: np.ndarray) -> float:
    """The chance that a positive is scored above a negative."""
    truth, guess = truth.reshape(len(truth), -1) > 0.5, guess.reshape(len(guess), -1)
    scores = []
    for column in range(truth.shape[1]):
        positive, ranks = truth[:, column], rankdata(guess[:, column])
        count = positive.sum()
        if 0 < count < len(positive):
            excess = ranks[positive].sum() - count * (count + 1) / 2
            scores.append(excess / (count * (len(positive) - count)))
    return float(np.mean(scores)) if scores else 0.5


def multiclass_auc(truth: np.ndarray, guess: np.ndarray) -> float:
    """The AUC of each class against the rest."""
    return roc_auc(np.eye(guess.shape[1])[truth], guess)


def log_loss(truth: np.ndarray, guess: np.ndarray) -> float:
    """Minus the mean log of the probability of what happened."""
    guess = np.clip(guess, 1e-15, 1 - 1e-15)
    return float(-np.mean(np.where(truth > 0.5, np.log(guess), np.log(1 - guess))))


def multiclass_log_loss(truth: np.ndarray, guess: np.ndarray) -> float:
    """Minus the mean log of the true class's probability."""
    guess = guess / guess.sum(axis=1, keepdims=True)
    return float(-np.mean(np.log(np.clip(guess[np.arange(len(truth)), truth], 1e-15, 1))))


def kl_divergence(truth: np.ndarray, guess: np.ndarray) -> float:
    """How far predicted distributions are from the true ones."""
    truth, guess = np.clip(truth, 1e-15, 1), np.clip(guess, 1e-15, 1)
    return float(np.mean(np.sum(truth * np.log(truth / guess), axis=1)))


def lwlrap(truth: np.ndarray, guess: np.ndarray) -> float:
    """The mean precision at the rank of each true label."""
    precisions = []
    for labels, scores in zip(truth > 0.5, guess, strict=True):
        ranked = labels[np.argsort(-scores, kind="stable")]
        precisions.extend((np.cumsum(ranked) / np.arange(1, len(ranked) + 1))[ranked])
    return float(np.mean(precisions)) if precisions else 0.0


def accuracy(truth: np.ndarray, guess: np.ndarray) -> float:
    """The share that is right."""
    return float(np.mean(truth == guess))


def error_rate(truth: np.ndarray, guess: np.ndarray) -> float:
    """The share that is wrong."""
    return float(np.mean(truth != guess))


def f1(truth: np.ndarray, guess: np.ndarray) -> float:
    """The harmonic mean of precision and recall."""
    return float(f1_score(truth, guess, average="binary", zero_division=0))


def macro_f1(truth: np.ndarray, guess: np.ndarray) -> float:
    """The mean F1 of the classes."""
    return float(f1_score(truth, guess, average="macro", zero_division=0))


def matthews(truth: np.ndarray, guess: np.ndarray) -> float:
    """The correlation of true and predicted classes."""
    return float(matthews_corrcoef(truth, guess))


def quadratic_kappa(truth: np.ndarray, guess: np.ndarray) -> float:
    """Agreement of grades, in which large differences weigh more."""
    return float(np.nan_to_num(cohen_kappa_score(truth.astype(int), guess.astype(int), weights="quadratic")))


def rmse(truth: np.ndarray, guess: np.ndarray) -> float:
    """The root of the mean squared error."""
    return float(np.mean(np.sqrt(np.mean((truth - guess) ** 2, axis=0))))


def rmsle(truth: np.ndarray, guess: np.ndarray) -> float:
    """The root of the mean squared error of logarithms."""
    return rmse(np.log1p(np.clip(truth, 0, None)), np.log1p(np.clip(guess, 0, None)))


def mae(truth: np.ndarray, guess: np.ndarray) -> float:
    """The mean absolute error."""
    return float(np.mean(np.abs(truth - guess)))


def smape(truth: np.ndarray, guess: np.ndarray) -> float:
    """The mean absolute error in percent of the mean of both."""
    size = (np.abs(truth) + np.abs(guess)) / 2
    return float(100 * np.mean(np.where(size > 0, np.abs(truth - guess) / np.where(size > 0, size, 1), 0)))


def pearson(truth: np.ndarray, guess: np.ndarray) -> float:
    """The correlation."""
    truth, guess = truth.reshape(len(truth), -1), guess.reshape(len(guess), -1)
    scores = []
    for left, right in zip(truth.T, guess.T, strict=True):
        if left.std() > 0:
            scores.append(np.corrcoef(left, right)[0, 1] if right.std() > 0 else 0.0)
    return float(np.mean(scores)) if scores else 0.0


def spearman(truth: np.ndarray, guess: np.ndarray) -> float:
    """The correlation of ranks."""
    return pearson(rankdata(truth, axis=0), rankdata(guess, axis=0))


def map_at_k(truth: list[set[str]], guess: list[list[str]], k: int) -> float:
    """The mean over rows of the average precision of the first k items."""
    scores = []
    for wanted, listed in zip(truth, guess, strict=True):
        hits = np.array([item in wanted for item in listed[:k]], dtype=float)
        precision = np.cumsum(hits) / np.arange(1, len(hits) + 1)
        scores.append((precision * hits).sum() / max(1, min(len(wanted), k)))
    return float(np.mean(scores))


def ndcg_at_k(truth: list[set[str]], guess: list[list[str]], k: int) -> float:
    """The mean over rows of the discounted gain of the first k items, as a share of the best possible."""
    discount = 1 / np.log2(np.arange(k) + 2)
    scores = []
    for wanted, listed in zip(truth, guess, strict=True):
        gain = sum(discount[rank] for rank, item in enumerate(listed[:k]) if item in wanted)
        scores.append(gain / discount[: max(1, min(len(wanted), k))].sum())
    return float(np.mean(scores))
