"""Scores: truth first, prediction second. Several columns are averaged."""

import numpy as np


def average_ranks(values: np.ndarray) -> np.ndarray:
    """Ranks from 1; ties share their mean rank."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(count) - (count - 1) / 2)[place])


def roc_auc(truth: np.ndarray, prediction: np.ndarray) -> float:
    """The probability that a positive is scored above a negative."""
    truth, prediction = truth.reshape(len(truth), -1) > 0.5, prediction.reshape(len(prediction), -1)
    scores = []
    for column in range(truth.shape[1]):
        positive, ranks = truth[:, column], average_ranks(prediction[:, column])
        count = positive.sum()
        if 0 < count < len(positive):
            excess = ranks[positive].sum() - count * (count + 1) / 2
            scores.append(excess / (count * (len(positive) - count)))
    return float(np.mean(scores)) if scores else 0.5


def multiclass_auc(truth: np.ndarray, prediction: np.ndarray) -> float:
    """The AUC of each class against the rest."""
    return roc_auc(np.eye(prediction.shape[1])[truth], prediction)


def log_loss(truth: np.ndarray, prediction: np.ndarray) -> float:
    """Minus the mean log probability of the outcome."""
    prediction = np.clip(prediction, 1e-15, 1 - 1e-15)
    return float(-np.mean(np.where(truth > 0.5, np.log(prediction), np.log(1 - prediction))))


def multiclass_log_loss(truth: np.ndarray, prediction: np.ndarray) -> float:
    """Minus the mean log probability of the true class."""
    prediction = prediction / prediction.sum(axis=1, keepdims=True)
    return float(-np.mean(np.log(np.clip(prediction[np.arange(len(truth)), truth], 1e-15, 1))))


def kl_divergence(truth: np.ndarray, prediction: np.ndarray) -> float:
    """The Kullback-Leibler divergence of predicted distributions from the true ones."""
    truth, prediction = np.clip(truth, 1e-15, 1), np.clip(prediction, 1e-15, 1)
    return float(np.mean(np.sum(truth * np.log(truth / prediction), axis=1)))


def lwlrap(truth: np.ndarray, prediction: np.ndarray) -> float:
    """The mean precision at the rank of each true label."""
    precisions = []
    for labels, scores in zip(truth > 0.5, prediction, strict=True):
        ranked = labels[np.argsort(-scores, kind="stable")]
        precisions.extend((np.cumsum(ranked) / np.arange(1, len(ranked) + 1))[ranked])
    return float(np.mean(precisions)) if precisions else 0.0


def accuracy(truth: np.ndarray, prediction: np.ndarray) -> float:
    """The share of correct predictions."""
    return float(np.mean(truth == prediction))


def error_rate(truth: np.ndarray, prediction: np.ndarray) -> float:
    """The share of wrong predictions."""
    return float(np.mean(truth != prediction))


def f1(truth: np.ndarray, prediction: np.ndarray) -> float:
    """The harmonic mean of precision and recall."""
    return float(2 * np.sum((truth == 1) & (prediction == 1)) / max(1, np.sum(truth == 1) + np.sum(prediction == 1)))


def macro_f1(truth: np.ndarray, prediction: np.ndarray) -> float:
    """The mean F1 of the classes."""
    return float(np.mean([f1(truth == one, prediction == one) for one in np.union1d(truth, prediction)]))


def confusion(truth: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    """Count the predictions of each true value (row) as each value (column)."""
    values, places = np.unique(np.concatenate([truth, prediction]), return_inverse=True)
    pairs = places[: len(truth)] * len(values) + places[len(truth) :]
    return np.bincount(pairs, minlength=len(values) ** 2).reshape(len(values), -1).astype(float)


def matthews(truth: np.ndarray, prediction: np.ndarray) -> float:
    """The correlation of true and predicted classes."""
    table = confusion(truth, prediction)
    true, guessed, total = table.sum(axis=1), table.sum(axis=0), table.sum()
    spread = (total**2 - true @ true) * (total**2 - guessed @ guessed)
    return float((np.trace(table) * total - true @ guessed) / np.sqrt(spread)) if spread > 0 else 0.0


def quadratic_kappa(truth: np.ndarray, prediction: np.ndarray) -> float:
    """Agreement of grades, where large differences count more."""
    truth, prediction = truth.astype(int), prediction.astype(int)
    by_chance = np.mean(truth**2.0) + np.mean(prediction**2.0) - 2 * np.mean(truth) * np.mean(prediction)
    return float(1 - np.mean((truth - prediction) ** 2.0) / by_chance) if by_chance > 0 else 0.0


def rmse(truth: np.ndarray, prediction: np.ndarray) -> float:
    """The root of the mean squared error."""
    return float(np.mean(np.sqrt(np.mean((truth - prediction) ** 2, axis=0))))


def rmsle(truth: np.ndarray, prediction: np.ndarray) -> float:
    """The root of the mean squared error of logarithms."""
    return rmse(np.log1p(np.clip(truth, 0, None)), np.log1p(np.clip(prediction, 0, None)))


def mae(truth: np.ndarray, prediction: np.ndarray) -> float:
    """The mean absolute error."""
    return float(np.mean(np.abs(truth - prediction)))


def smape(truth: np.ndarray, prediction: np.ndarray) -> float:
    """The mean absolute error in percent of the mean of both."""
    size = (np.abs(truth) + np.abs(prediction)) / 2
    return float(100 * np.mean(np.where(size > 0, np.abs(truth - prediction) / np.where(size > 0, size, 1), 0)))


def pearson(truth: np.ndarray, prediction: np.ndarray) -> float:
    """The correlation."""
    truth, prediction = truth.reshape(len(truth), -1), prediction.reshape(len(prediction), -1)
    scores = []
    for left, right in zip(truth.T, prediction.T, strict=True):
        if left.std() > 0:
            scores.append(np.corrcoef(left, right)[0, 1] if right.std() > 0 else 0.0)
    return float(np.mean(scores)) if scores else 0.0


def spearman(truth: np.ndarray, prediction: np.ndarray) -> float:
    """The correlation of ranks."""
    pairs = [one.reshape(len(one), -1) for one in (truth, prediction)]
    ranks = [np.column_stack([average_ranks(column) for column in one.T]) for one in pairs]
    return pearson(*ranks)


def word_jaccard(truth: list[str], prediction: list[str]) -> float:
    """The mean share of words that two texts have in common."""
    pairs = [
        (set(str(one).lower().split()), set(str(other).lower().split()))
        for one, other in zip(truth, prediction, strict=True)
    ]
    return float(np.mean([len(one & other) / max(1, len(one | other)) for one, other in pairs]))


def map_at_k(truth: list[set[str]], prediction: list[list[str]], k: int) -> float:
    """The mean average precision of the first k items."""
    scores = []
    for wanted, listed in zip(truth, prediction, strict=True):
        hits = np.array([item in wanted for item in listed[:k]], dtype=float)
        precision = np.cumsum(hits) / np.arange(1, len(hits) + 1)
        scores.append((precision * hits).sum() / max(1, min(len(wanted), k)))
    return float(np.mean(scores))


def ndcg_at_k(truth: list[set[str]], prediction: list[list[str]], k: int) -> float:
    """The mean discounted gain of the first k items, as a share of the best possible."""
    discount = 1 / np.log2(np.arange(k) + 2)
    scores = []
    for wanted, listed in zip(truth, prediction, strict=True):
        gain = sum(discount[rank] for rank, item in enumerate(listed[:k]) if item in wanted)
        scores.append(gain / discount[: max(1, min(len(wanted), k))].sum())
    return float(np.mean(scores))
