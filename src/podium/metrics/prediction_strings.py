"""Prediction strings: columns of texts that list objects, parsed into flat arrays and matched without loops.

An object is written as a fixed number of values separated by blanks, such as `label confidence x y`, and a row lists
any number of objects.
"""

from __future__ import annotations

import reprlib
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import ArrayLike, NDArray

from podium.errors import InvalidSubmission
from podium.metrics.input_checks import BoolArray, FloatArray, IntArray, RowNumbers, as_texts, paired_texts
from podium.text import plural

LABEL = "label"
"""Name of the only field that is not a number."""
_MAX_NUMBER = 1e30
"""Largest number accepted, so that volumes of boxes do not overflow."""
_PAIRS_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class Objects:
    """Objects of many rows, concatenated."""

    row: IntArray
    label: NDArray[np.object_]
    """Labels of the objects; empty texts if objects have no label."""
    values: dict[str, FloatArray]
    """Numbers of each field."""
    count: int
    """Number of rows, the empty ones included."""

    def __len__(self) -> int:
        return len(self.row)

    def columns(self, *fields: str) -> FloatArray:
        """Return some fields as the columns of an array."""
        return np.stack([self.values[field] for field in fields], axis=1)

    def take(self, chosen: IntArray | BoolArray) -> Objects:
        """Return some of the objects, in the given order."""
        values = {field: numbers[chosen] for field, numbers in self.values.items()}
        return Objects(self.row[chosen], self.label[chosen], values, self.count)

    def by(self, field: str) -> Objects:
        """Return the objects sorted by a field, the highest first; the sort is stable."""
        return self.take(np.argsort(-self.values[field], kind="stable"))


def parse_objects(
    texts: ArrayLike, fields: str, *, names: Sequence[object] | None = None, single_blanks: bool = True
) -> Objects:
    """Parse a column of prediction strings; an empty text has no objects.

    Args:
        texts: One text per row.
        fields: The values of an object, such as `label confidence x y`.
        names: The name of each row in messages.
        single_blanks: True to refuse other white space.

    Raises:
        InvalidSubmission: A text is malformed; the message names its row.
    """
    rows, kinds = as_texts(texts), fields.split()
    called = RowNumbers(len(rows)) if names is None else names
    tokens = " ".join(rows).split()
    lengths = np.fromiter((len(text.split()) for text in rows), dtype=np.int64, count=len(rows))

    def refuse(faults: NDArray[np.bool_], describe: Callable[[int], str]) -> None:
        if faults.any():
            row = int(np.argmax(faults))
            raise InvalidSubmission(f"{called[row]}: {describe(row)}")

    refuse(
        lengths % len(kinds) != 0,
        lambda row: (
            f"the text has {plural(int(lengths[row]), 'value')}; {len(kinds)} per object are expected ({fields})."
        ),
    )
    if single_blanks:
        crooked = (bool(text) and text.count(" ") + 1 != length for text, length in zip(rows, lengths, strict=True))
        refuse(
            np.fromiter(crooked, dtype=np.bool_, count=len(rows)),
            lambda _: "the text has extra white space; one blank between values is expected.",
        )
    row = np.repeat(np.arange(len(rows)), lengths // len(kinds))
    values = {
        kind: _numbers(tokens[place :: len(kinds)], kind, row, called)
        for place, kind in enumerate(kinds)
        if kind != LABEL
    }
    label = tokens[kinds.index(LABEL) :: len(kinds)] if LABEL in kinds else [""] * len(row)
    return Objects(row, np.array(label, dtype=object), values, len(rows))


def _numbers(tokens: list[str], kind: str, row: IntArray, names: Sequence[object]) -> FloatArray:
    try:
        numbers = np.fromiter(map(float, tokens), dtype=np.float64, count=len(tokens))
    except ValueError:
        numbers = np.array([_number_or_nan(token) for token in tokens])
    strange = ~(np.abs(numbers) <= _MAX_NUMBER)
    if strange.any():
        first = int(np.argmax(strange))
        raise InvalidSubmission(f"{names[row[first]]}: {kind} is {reprlib.repr(tokens[first])}; a number is expected.")
    return numbers


def _number_or_nan(token: str) -> float:
    try:
        return float(token)
    except ValueError:
        return float("nan")


def parse_both(
    truth: ArrayLike,
    prediction: ArrayLike,
    fields: str,
    *,
    names: Sequence[object] | None,
    truth_fields: str | None = None,
    single_blanks: bool = True,
) -> tuple[Objects, Objects]:
    """Parse the objects of two aligned columns."""
    left, right = paired_texts(truth, prediction)
    try:
        actual = parse_objects(left, truth_fields or fields, names=names)
    except InvalidSubmission as fault:  # a fault of the answers, not of the submission
        raise ValueError(f"The truth is malformed. {fault}") from fault
    return actual, parse_objects(right, fields, names=names, single_blanks=single_blanks)


def encode_labels(left: Objects, right: Objects) -> tuple[IntArray, IntArray]:
    """Encode labels as numbers 0, 1, 2, … in order of first appearance, the left side first."""
    codes: defaultdict[str, int] = defaultdict(count().__next__)
    first, second = (
        np.fromiter(map(codes.__getitem__, side.label), dtype=np.int64, count=len(side)) for side in (left, right)
    )
    return first, second


def group_keys(left: Objects, right: Objects) -> tuple[IntArray, IntArray]:
    """Return row and label as one number; objects with the same key can be matched."""
    first, second = encode_labels(left, right)
    labels = 1 + max(first.max(initial=0), second.max(initial=0))
    return left.row * labels + first, right.row * labels + second


@dataclass(frozen=True)
class ObjectPairs:
    """Pairs of objects of two sides that can be matched."""

    left: IntArray
    right: IntArray
    value: FloatArray
    """Quality of each match."""

    def take(self, chosen: IntArray | BoolArray) -> ObjectPairs:
        return ObjectPairs(self.left[chosen], self.right[chosen], self.value[chosen])

    def best_first(self, *, last_of_equals: bool = False) -> ObjectPairs:
        """Return the pairs by left object, its best match first; ties by the first (or last) right object."""
        return self.take(np.lexsort((-self.right if last_of_equals else self.right, -self.value, self.left)))


def matching_pairs(
    left_key: IntArray, right_key: IntArray, measure: Callable[[IntArray, IntArray], ArrayLike], *, above: float
) -> ObjectPairs:
    """Return all pairs with the same key whose measure exceeds a bound, by left and then by right object.

    `measure` gets the positions of the left and of the right object of each pair.
    """
    order = np.argsort(right_key, kind="stable")
    begins = np.searchsorted(right_key[order], left_key, side="left")
    lengths = np.searchsorted(right_key[order], left_key, side="right") - begins
    ends = np.cumsum(lengths)
    chunk = ends // _PAIRS_AT_ONCE
    parts = []
    for first, stop in zip(*_segments(chunk), strict=True):
        here = lengths[first:stop]
        left = np.repeat(np.arange(first, stop), here)
        step = np.arange(len(left)) - np.repeat(np.cumsum(here) - here, here)
        right = order[np.repeat(begins[first:stop], here) + step]
        value = np.asarray(measure(left, right), dtype=np.float64)
        parts.append(ObjectPairs(left, right, value).take(value > above))
    nothing = ObjectPairs(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
    sides = [*parts, nothing]
    return ObjectPairs(
        np.concatenate([part.left for part in sides]),
        np.concatenate([part.right for part in sides]),
        np.concatenate([part.value for part in sides]),
    )


def _segments(values: IntArray) -> tuple[IntArray, IntArray]:
    """Return the beginnings and ends of runs of equal values."""
    begins = np.flatnonzero(np.diff(values, prepend=-1))
    return begins, np.append(begins[1:], len(values))[: len(begins)]


def place_in_group(key: IntArray) -> IntArray:
    """Return the number of earlier objects with the same key for each object."""
    order = np.argsort(key, kind="stable")
    begins, ends = _segments(key[order])
    place = np.empty(len(key), dtype=np.int64)
    place[order] = np.arange(len(key)) - np.repeat(begins, ends - begins)
    return place


def match_greedily(claimant: IntArray, target: IntArray) -> BoolArray:
    """Return a mask of the pairs chosen when claimants, the lowest first, each take their first free target.

    The pairs are sorted by claimant, its preferred target first. Claimants are processed in parallel: in each round,
    a target goes to the first claimant among all that could still take it, if it prefers that target.
    """
    chosen = np.zeros(len(claimant), dtype=np.bool_)
    served = np.zeros(claimant.max(initial=0) + 1, dtype=np.bool_)
    taken = np.zeros(target.max(initial=0) + 1, dtype=np.bool_)
    first_in_line = np.empty(len(taken), dtype=np.int64)
    rest = np.arange(len(claimant))
    while len(rest):
        who, what = claimant[rest], target[rest]
        first_in_line[what[::-1]] = who[::-1]  # the last one written stays: the lowest claimant
        preferred = _segments(who)[0]
        won = preferred[first_in_line[what[preferred]] == who[preferred]]
        chosen[rest[won]] = served[who[won]] = taken[what[won]] = True
        rest = rest[~(served[who] | taken[what])]
    return chosen
