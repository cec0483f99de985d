"""Distances between bodies made of voxels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from podium.metrics.input_checks import BoolArray, FloatArray, IntArray, ratio
from podium.metrics.run_length import Runs, area, overlap, parse_both, pixels
from podium.task import metric

_CELL = 6
"""Voxels along the side of a cell."""


@metric("Dice and 3D Hausdorff", higher_is_better=True)
def dice_hausdorff(
    truth: ArrayLike,
    prediction: ArrayLike,
    *,
    stack: ArrayLike,
    layer: ArrayLike,
    sides: ArrayLike,
    names: Sequence[object] | None = None,
    along_rows: bool = True,
    most_times: float = math.inf,
    dice_weight: float = 0.4,
) -> float:
    """Return the agreement of run-length masks: 2D Dice and 3D Hausdorff distance of stacks, without empty pairs.

    score = w mean Dice of the masks + (1 - w) (1 - mean Hausdorff distance of the stacks)

    Args:
        stack, layer, most_times: As in `stack_distances`.
        sides: The height and the width of each mask.
        along_rows: Whether pixels are taken to run along the rows, not down the columns.

    >>> from podium.metrics import dice_hausdorff
    >>> round(dice_hausdorff.using(stack=[0], layer=[0], sides=[[3, 3]])(["1 3"], ["1 2"]), 4)
    0.8045
    """
    shape = np.asarray(sides, dtype=np.int64)
    actual, predicted = parse_both(truth, prediction, names=names, size=shape.prod(axis=-1))
    dice = ratio(2 * overlap(actual, predicted), area(actual) + area(predicted), empty=np.nan)
    if np.isnan(dice).all():
        return math.nan
    distances = stack_distances(
        actual,
        predicted,
        stack=np.asarray(stack),
        layer=np.asarray(layer),
        sides=shape if along_rows else shape[:, ::-1],
        most_times=most_times,
    )
    return float(dice_weight * np.nanmean(dice) + (1 - dice_weight) * (1 - np.nanmean(distances)))


def stack_distances(
    truth: Runs,
    prediction: Runs,
    *,
    stack: IntArray,
    layer: IntArray,
    sides: IntArray,
    most_times: float = math.inf,
) -> FloatArray:
    """Return the Hausdorff distance of each stack of masks, in diagonals of its box; NaN where both sides are empty.

    It is 1 where one side is empty, or the prediction has more than `most_times` the voxels of the truth.

    Args:
        stack: Which stack each mask belongs to.
        layer: Its place there, from 0; masks in the same place are laid over each other.
        sides: Its two sides, the one that pixels run along second.
    """
    numbers = np.unique(stack)
    distances = np.full(len(numbers), np.nan)
    for place, number in enumerate(numbers):
        here = stack == number
        first = int(np.argmax(here))
        shape = (int(layer[here].max()) + 1, int(sides[first, 0]), int(sides[first, 1]))
        actual, predicted = (_body(runs, here, layer, shape) for runs in (truth, prediction))
        if actual.size and predicted.size and predicted.size <= most_times * actual.size:
            distances[place] = hausdorff(actual, predicted)
        elif actual.size or predicted.size:
            distances[place] = 1.0
    return distances


@dataclass(frozen=True)
class Body:
    """Voxels in a box with an empty rim, so that every voxel has neighbours."""

    filled: BoolArray
    """Every place of the box, the last side running fastest."""
    places: IntArray
    """The filled ones, in any order, perhaps repeated."""
    padded: tuple[int, int, int]
    """The sides of the box with its rim."""

    @property
    def size(self) -> int:
        return int(np.count_nonzero(self.filled)) if len(self.places) else 0

    def coordinates(self, places: IntArray) -> FloatArray:
        """Return positions in a box scaled to equal sides and a diagonal of length 1."""
        return np.stack(np.unravel_index(places, self.padded), axis=1) / ((np.array(self.padded) - 2) * math.sqrt(3))

    def surface(self) -> IntArray:
        """Return the places with an empty neighbour. Seen from outside, the nearest place of a body is one of them."""
        enclosed = np.ones(len(self.places), dtype=np.bool_)
        for step in (self.padded[1] * self.padded[2], self.padded[2], 1):
            enclosed &= self.filled[self.places + step] & self.filled[self.places - step]
        return self.places[~enclosed]


def body_of(voxels: tuple[IntArray, IntArray, IntArray], shape: tuple[int, int, int]) -> Body:
    """Return the body of the voxels with these indices along each side of a box."""
    padded = (shape[0] + 2, shape[1] + 2, shape[2] + 2)
    x, y, z = voxels
    places = ((x + 1) * padded[1] + y + 1) * padded[2] + z + 1
    filled = np.zeros(math.prod(padded), dtype=np.bool_)
    filled[places] = True
    return Body(filled, places, padded)


def _body(runs: Runs, chosen: BoolArray, layer: IntArray, shape: tuple[int, int, int]) -> Body:
    here = chosen[runs.row]
    row, place = pixels(Runs(runs.row[here], runs.start[here], runs.stop[here], runs.count))
    return body_of((layer[row], *np.divmod(place, shape[2])), shape)


def hausdorff(left: Body, right: Body) -> float:
    """Return the Hausdorff distance of two bodies in boxes of one shape, the sides scaled to one length, in diagonals.

    d = max(max over a of min over b of |a - b|, max over b of min over a of |a - b|)
    """
    return max(_farthest(left, right), _farthest(right, left))


def _farthest(body: Body, other: Body) -> float:
    """Return the largest distance of a body's voxels from the other body."""
    from scipy.spatial import cKDTree

    outside = body.places[~other.filled[body.places]]
    if len(outside) == 0:
        return 0.0
    tree = cKDTree(other.coordinates(other.surface()), balanced_tree=False, compact_nodes=False)
    points = body.coordinates(outside)

    def measure(chosen: FloatArray) -> FloatArray:
        return np.asarray(tree.query(chosen)[0], dtype=np.float64)

    # One point per cell is measured first: no other can be farther than its distance to that point adds.
    cell = _cells(outside, body.padded)
    _, first, member = np.unique(cell, return_index=True, return_inverse=True)
    distance = measure(points[first])
    bound = distance[member] + np.linalg.norm(points - points[first][member], axis=1)
    rest = points[bound > distance.max()]
    return float(max(distance.max(), measure(rest).max(initial=0.0)))


def _cells(places: IntArray, padded: tuple[int, int, int]) -> IntArray:
    x, y, z = (index // _CELL for index in np.unravel_index(places, padded))
    cells: IntArray = (x * padded[1] + y) * padded[2] + z
    return cells
