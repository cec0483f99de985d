"""The metric of the task: mean average precision within the first 20 categories."""

from collections.abc import Iterable, Sequence


def average_precision(actual: Iterable[int], predicted: Sequence[int], k: int = 20) -> float:
    """Of one picture, whose predicted categories stand in their order, the most probable first."""
    wanted = set(actual)
    if not wanted:
        return 0.0
    total, hits = 0.0, 0
    for rank, category in enumerate(predicted[:k], 1):
        if category in wanted and category not in predicted[: rank - 1]:
            hits += 1
            total += hits / rank
    return total / min(len(wanted), k)


def map_at_20(actual: Sequence[Iterable[int]], predicted: Sequence[Sequence[int]]) -> float:
    """Of many pictures."""
    pairs = zip(actual, predicted, strict=True)
    return sum(average_precision(wanted, found) for wanted, found in pairs) / len(actual)
