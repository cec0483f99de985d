"""Scores of orders: each row is a text of items separated by blanks, put in order by both sides."""

from __future__ import annotations

import math
import reprlib
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from podium.errors import InvalidSubmission
from podium.metrics.input_checks import IntArray, paired_texts
from podium.metrics.token_sets import Tokens, encode
from podium.task import metric


@metric("Kendall tau", higher_is_better=True)
def kendall_tau(truth: ArrayLike, prediction: ArrayLike, *, names: Sequence[object] | None = None) -> float:
    """Return the Kendall tau correlation of two orders, all rows together; NaN if no row has two items.

    tau = 1 - 4 (sum_i S_i) / (sum_i n_i (n_i - 1)), where row i has n_i items and
    S_i = number of its pairs of items that the two sides put in opposite order
    Both sides of a row must hold the same items, each once; `names` says what rows are called in messages.

    >>> from podium.metrics import kendall_tau
    >>> round(kendall_tau(["a b c"], ["a c b"]), 4)
    0.3333
    """
    left, right = paired_texts(truth, prediction)
    actual, predicted = encode(left, right)
    pairs = int(np.sum(actual.counts * (actual.counts - 1)))
    places = _true_places(actual, predicted)
    if places is None:
        row = next(row for row in range(len(left)) if sorted(left[row].split()) != sorted(right[row].split()))
        name = f"row {row + 1}" if names is None else names[row]
        raise InvalidSubmission(f"{name}: {_describe_fault(left[row].split(), right[row].split())}")
    return 1 - 4 * count_inversions(places) / pairs if pairs else math.nan


def _true_places(actual: Tokens, predicted: Tokens) -> IntArray | None:
    """Return each predicted item's position among all items of the concatenated truth; None if items differ."""
    order = np.argsort(actual.key)
    keys = actual.key[order]
    if np.any(keys[1:] == keys[:-1]):
        raise ValueError("the truth has an item twice in one row; expected each once")
    if not np.array_equal(keys, np.sort(predicted.key)):
        return None
    return order[np.searchsorted(keys, predicted.key)]


def _describe_fault(items: list[str], listed: list[str]) -> str:
    known, missing = set(items), set(items) - set(listed)
    unknown = next((item for item in listed if item not in known), None)
    repeated = next((item for item, count in Counter(listed).items() if count > 1), None)
    faults = [f"{reprlib.repr(unknown)} is not one of its items"] if unknown else []
    faults += [f"{reprlib.repr(repeated)} occurs more than once"] if repeated else []
    verb = "is" if len(missing) == 1 else "are"
    faults += [f"{len(missing)} of its {len(items)} items {verb} missing"] if missing else []
    return f"{'; '.join(faults)}. Every item is expected once."


def count_inversions(values: IntArray) -> int:
    """Return the number of pairs in the wrong order in a permutation of 0, 1, 2, …

    A radix sort from the highest bit down: numbers that agree in the higher bits are adjacent in their original order,
    so a pair that differs in this bit is in the wrong order if its 1 comes before its 0.
    """
    inversions = 0
    for bit in reversed(range(len(values).bit_length())):
        one = (values >> bit) & 1
        block = (values >> (bit + 1)) << (bit + 1)  # the smallest number of a block is also where it begins
        ones = np.cumsum(one) - one
        ones -= ones[block]
        inversions += int(ones[one == 0].sum())
        place = np.where(one == 1, block + (1 << bit) + ones, np.arange(len(values)) - ones)
        moved = np.empty_like(values)
        moved[place] = values
        values = moved
    return inversions
