"""Run-length masks, measured without ever being decoded to pixels.

A mask is written `start length start length ...` with the first pixel numbered 1. Real columns hold millions
of runs, so all rows are read and compared together.
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from podium.errors import InvalidSubmission
from podium.metrics.input_checks import BoolArray, IntArray, RowNumbers, as_texts, paired_texts
from podium.text import plural

_MAX_NUMBER = 10**12
"""Largest number read; positions of all rows laid end to end must fit in 64 bits."""
_BLANKS = " \t\n\v\f\r"
_WORD = re.compile(r"[^ \t-\r]+")


@dataclass(frozen=True)
class Runs:
    """Runs of many masks in order of row and position, 0-based and half open."""

    row: IntArray
    start: IntArray
    stop: IntArray
    count: int
    """Number of masks, the empty ones included."""


def parse_runs(
    texts: ArrayLike,
    *,
    names: Sequence[object],
    size: int | NDArray[np.integer] | None = None,
    strict_size: bool = False,
) -> Runs:
    """Parse a column of run-length masks; an empty text is an empty mask.

    Args:
        texts: One mask per row.
        names: The name of each row in messages.
        size: The number of pixels of the masks (or of each), if known.
        strict_size: True to refuse a run past the size instead of cutting it.

    Raises:
        InvalidSubmission: A mask is not made of ascending runs; the message names its row.
    """
    masks = as_texts(texts)
    if len(names) != len(masks):
        raise ValueError(f"{len(names)} names for {len(masks)} masks; expected one each")
    runs = _read_runs(masks, names)
    _check_order(runs, names)
    if size is None:
        return runs
    sizes = np.broadcast_to(np.asarray(size, dtype=np.int64), (len(masks),))[runs.row]
    if strict_size:
        _check_size(runs, sizes, names)
    return _cut(runs, sizes)


def parse_both(
    truth: ArrayLike,
    prediction: ArrayLike,
    *,
    names: Sequence[object] | None,
    size: int | NDArray[np.integer] | None,
    strict_size: bool = False,
) -> tuple[Runs, Runs]:
    """Parse the masks of two aligned columns."""
    left, right = paired_texts(truth, prediction)
    called = RowNumbers(len(left)) if names is None else names
    try:
        actual = parse_runs(left, names=called, size=size, strict_size=strict_size)
    except InvalidSubmission as fault:  # a fault of the answers, not of the submission
        raise ValueError(f"The truth is malformed. {fault}") from fault
    return actual, parse_runs(right, names=called, size=size, strict_size=strict_size)


def _read_runs(masks: list[str], names: Sequence[object]) -> Runs:
    """Parse the runs without checking their order."""
    joined = " ".join(masks)
    ends = np.cumsum(np.fromiter(map(len, masks), dtype=np.int64, count=len(masks)) + 1)
    begins = _number_begins(joined, ends, names)
    counts = np.diff(np.searchsorted(begins, ends), prepend=0)
    _check(
        counts % 2 == 1,
        lambda i: (
            f"{names[i]}: the mask has {plural(int(counts[i]), 'number')}; pairs of start and length are expected."
        ),
    )
    # NumPy would parse blanks alone as a single 0.
    numbers = np.fromstring(joined, dtype=np.int64, sep=" ") if len(begins) else np.zeros(0, np.int64)
    row = np.repeat(np.arange(len(masks)), counts // 2)
    _check(
        numbers > _MAX_NUMBER,
        lambda i: f"{names[row[i // 2]]}: a number in the mask is too large; the maximum is {_MAX_NUMBER}.",
    )
    start = numbers[0::2] - 1
    return Runs(row, start, start + numbers[1::2], len(masks))


def _number_begins(joined: str, ends: IntArray, names: Sequence[object]) -> IntArray:
    """Return the positions where numbers begin; raise InvalidSubmission for anything but digits and blanks."""
    letters = np.frombuffer(joined.encode("ascii", errors="replace"), dtype=np.uint8)
    digit = (letters >= ord("0")) & (letters <= ord("9"))
    blank = (letters == ord(" ")) | ((letters >= ord("\t")) & (letters <= ord("\r")))

    def describe(letter: int) -> str:
        row = int(np.searchsorted(ends, letter, side="right"))
        begin = 1 + max(joined.rfind(blank, 0, letter) for blank in _BLANKS)
        word = _WORD.match(joined, begin)
        assert word is not None, "the letter is not a blank"
        return f"{names[row]}: {reprlib.repr(word[0])} in the mask is not a positive whole number."

    _check(~(digit | blank), describe)
    digit[1:] &= blank[:-1]
    return np.flatnonzero(digit)


def _check_order(runs: Runs, names: Sequence[object]) -> None:
    row, start, stop = runs.row, runs.start, runs.stop
    _check(start < 0, lambda i: f"{names[row[i]]}: a run of the mask starts at 0; the first pixel is 1.")
    _check(
        stop <= start,
        lambda i: f"{names[row[i]]}: the run at {start[i] + 1} has length 0; the minimum is 1.",
    )
    _check(
        (row[1:] == row[:-1]) & (start[1:] < stop[:-1]),
        lambda i: (
            f"{names[row[i]]}: the run at {start[i + 1] + 1} follows one that ends at {stop[i]}; "
            "runs must be in ascending order and must not overlap."
        ),
    )


def _check_size(runs: Runs, sizes: IntArray, names: Sequence[object]) -> None:
    _check(
        runs.stop > sizes,
        lambda i: (
            f"{names[runs.row[i]]}: the run at {runs.start[i] + 1} ends at {runs.stop[i]}; "
            f"the mask has {sizes[i]} pixels."
        ),
    )


def _check(faults: BoolArray, describe: Callable[[int], str]) -> None:
    """Raise InvalidSubmission for the first fault, if any."""
    if faults.any():
        raise InvalidSubmission(describe(int(np.argmax(faults))))


def _cut(runs: Runs, sizes: IntArray) -> Runs:
    kept = runs.start < sizes
    return Runs(runs.row[kept], runs.start[kept], np.minimum(runs.stop, sizes)[kept], runs.count)


def write_runs(mask: ArrayLike) -> str:
    """Return a mask as run-length text, with its pixels in array order."""
    edges = np.flatnonzero(np.diff(np.asarray(mask, dtype=np.int8).ravel(), prepend=0, append=0)).reshape(-1, 2)
    return " ".join(f"{start + 1} {stop - start}" for start, stop in edges.tolist())


def pixels(runs: Runs) -> tuple[IntArray, IntArray]:
    """Return the row and the 0-based position of every pixel."""
    lengths = runs.stop - runs.start
    row, skipped = np.repeat(runs.row, lengths), np.repeat(runs.start - np.cumsum(lengths) + lengths, lengths)
    return row, skipped + np.arange(len(row))


def area(runs: Runs) -> IntArray:
    """Return the number of pixels of each mask."""
    return _add_up(runs, runs.stop - runs.start)


def overlap(left: Runs, right: Runs) -> IntArray:
    """Return the number of pixels each mask of one column shares with the mask in the same row of the other."""
    if left.count != right.count:
        raise ValueError(f"{left.count} and {right.count} masks; expected the same number")
    shift = _shifts(left, right)
    begins, ends = right.start + shift[right.row], right.stop + shift[right.row]
    covered = np.concatenate([[0], np.cumsum(ends - begins)])
    reach = np.concatenate([[0], ends])

    def pixels_before(place: IntArray) -> IntArray:
        """Return the number of pixels of the right masks before a position in the concatenation."""
        begun = np.searchsorted(begins, place)
        return covered[begun] - np.maximum(reach[begun] - place, 0)

    shared = pixels_before(left.stop + shift[left.row]) - pixels_before(left.start + shift[left.row])
    return _add_up(left, shared)


def _shifts(left: Runs, right: Runs) -> IntArray:
    """Return the position where each row begins in the concatenation of all rows."""
    extent = np.zeros(left.count, dtype=np.int64)
    for runs in (left, right):
        np.maximum.at(extent, runs.row, runs.stop)
    return np.cumsum(extent) - extent


def _add_up(runs: Runs, pixels: IntArray) -> IntArray:
    return np.bincount(runs.row, weights=pixels, minlength=runs.count).astype(np.int64)
