"""Scores: truth first, prediction second. Of several columns the mean is taken."""

import numpy as np


def average_ranks(values: np.ndarray) -> np.ndarray:
    """Ranks from 1 on; equals share the mean of theirs."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(count) - (count - 1) / 2)[place])


def roc_auc(truth: np.ndarray, guess: np.ndarray) -> float:
    """The chance that a positive is scored above a negative."""
    truth, guess = truth.reshape(len(truth), -1) > 0.5, guess.reshape(len(guess), -1)
    scores = []
    for column in range(truth.shape[1]):
        positive, ranks = truth[:, column], average_ranks(guess[:, column])
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
    return float(2 * np.sum((truth == 1) & (guess == 1)) / max(1, np.sum(truth == 1) + np.sum(guess == 1)))


def macro_f1(truth: np.ndarray, guess: np.ndarray) -> float:
    """The mean F1 of the classes."""
    return float(np.mean([f1(truth == one, guess == one) for one in np.union1d(truth, guess)]))


def confusion(truth: np.ndarray, guess: np.ndarray) -> np.ndarray:
    """How often each value (rows) was taken for each (columns)."""
    values, places = np.unique(np.concatenate([truth, guess]), return_inverse=True)
    pairs = places[: len(truth)] * len(values) + places[len(truth) :]
    return np.bincount(pairs, minlength=len(values) ** 2).reshape(len(values), -1).astype(float)


def matthews(truth: np.ndarray, guess: np.ndarray) -> float:
    """The correlation of true and predicted classes."""
    table = confusion(truth, guess)
    true, guessed, total = table.sum(axis=1), table.sum(axis=0), table.sum()
    spread = (total**2 - true @ true) * (total**2 - guessed @ guessed)
    return float((np.trace(table) * total - true @ guessed) / np.sqrt(spread)) if spread > 0 else 0.0


def quadratic_kappa(truth: np.ndarray, guess: np.ndarray) -> float:
    """Agreement of grades, in which large differences weigh more."""
    truth, guess = truth.astype(int), guess.astype(int)
    by_chance = np.mean(truth**2.0) + np.mean(guess**2.0) - 2 * np.mean(truth) * np.mean(guess)
    return float(1 - np.mean((truth - guess) ** 2.0) / by_chance) if by_chance > 0 else 0.0


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
    pairs = [one.reshape(len(one), -1) for one in (truth, guess)]
    ranks = [np.column_stack([average_ranks(column) for column in one.T]) for one in pairs]
    return pearson(*ranks)


def word_jaccard(truth: list[str], guess: list[str]) -> float:
    """The mean share of words that two texts have in common."""
    pairs = [
        (set(str(one).lower().split()), set(str(other).lower().split()))
        for one, other in zip(truth, guess, strict=True)
    ]
    return float(np.mean([len(one & other) / max(1, len(one | other)) for one, other in pairs]))


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
