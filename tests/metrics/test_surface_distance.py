from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.spatial.distance import cdist

from podium.metrics.run_length import parse_runs, write_runs
from podium.metrics.surface_distance import Body, body_of, dice_hausdorff, hausdorff, stack_distances

examples = settings(max_examples=40)

shapes = st.tuples(st.integers(1, 4), st.integers(1, 5), st.integers(1, 5))


def bodies(shape: tuple[int, int, int]) -> st.SearchStrategy[tuple[np.ndarray, np.ndarray]]:
    voxels = arrays.arrays(np.bool_, shape)
    return st.tuples(voxels, voxels)


def body(voxels: np.ndarray) -> Body:
    return body_of(np.nonzero(voxels), voxels.shape)


def slow_distance(left: np.ndarray, right: np.ndarray) -> float:
    between = cdist(np.argwhere(left) / left.shape, np.argwhere(right) / right.shape)
    return max(between.min(axis=1).max(), between.min(axis=0).max()) / math.sqrt(3)


@examples
@given(shapes.flatmap(bodies).filter(lambda pair: pair[0].any() and pair[1].any()))
def test_distance_is_that_of_all_voxels(pair: tuple[np.ndarray, np.ndarray]) -> None:
    left, right = pair
    distance = hausdorff(body(left), body(right))
    assert distance == pytest.approx(slow_distance(left, right), abs=1e-12)


def test_solid_bodies_are_compared_by_their_surfaces() -> None:
    left, right = np.zeros((9, 20, 30), dtype=bool), np.zeros((9, 20, 30), dtype=bool)
    left[2:7, 4:15, 3:20] = True
    right[1:8, 8:19, 10:29] = True
    distance = hausdorff(body(left), body(right))
    assert distance == pytest.approx(slow_distance(left, right))


@examples
@given(st.lists(shapes.flatmap(lambda shape: bodies((2, *shape[1:]))), min_size=1, max_size=3), st.integers(2, 9))
def test_masks_of_a_layer_are_laid_over_each_other(stacks: list[tuple[np.ndarray, np.ndarray]], most: int) -> None:
    """Both masks of a body lie in one layer, the second turned upside down for the fun of it."""
    texts, stack, layer, sides, expected = ([], []), [], [], [], []
    for number, pair in enumerate(stacks):
        for place in range(2):
            for side in (0, 1):
                texts[side].append(write_runs(pair[side][place]))
        height, width = pair[0].shape[1:]
        stack += [number] * 2
        layer += [0, 0]
        sides += [[height, width]] * 2
        left, right = (voxels.any(axis=0)[None] for voxels in pair)
        if left.any() and right.any() and right.sum() <= most * left.sum():
            expected.append(slow_distance(left, right))
        else:
            expected.append(1.0 if left.any() or right.any() else math.nan)
    truth, prediction = (parse_runs(column, names=column) for column in texts)
    facts = {"stack": np.array(stack), "layer": np.array(layer), "sides": np.array(sides)}
    assert stack_distances(truth, prediction, **facts, most_times=most) == pytest.approx(expected, nan_ok=True)


def test_layers_are_as_far_apart_as_they_are_numbered() -> None:
    truth, prediction = parse_runs(["1 1", "", ""], names="abc"), parse_runs(["", "", "1 1"], names="abc")
    facts = {"stack": np.zeros(3, np.int64), "layer": np.arange(3), "sides": np.full((3, 2), 4)}
    assert stack_distances(truth, prediction, **facts) == pytest.approx([2 / 3 / math.sqrt(3)])


def test_masks_count_one_by_one_and_as_a_body() -> None:
    voxels = np.zeros((2, 3, 4), dtype=bool)
    voxels[:, 1, 1:3] = True
    moved = np.roll(voxels, 1, axis=2)
    options = {"names": ["a", "b"], "stack": np.zeros(2, int), "layer": np.arange(2), "sides": np.array([[3, 4]] * 2)}
    metric = dice_hausdorff.using(**options)
    truth, guess = ([write_runs(mask) for mask in body] for body in (voxels, moved))
    assert metric(truth, guess) == pytest.approx(0.4 * 0.5 + 0.6 * (1 - slow_distance(voxels, moved)))
    assert metric(truth, truth) == 1
    # Read as if they went down the columns, the four pixels lie elsewhere, but as often in both.
    turned = [body.reshape(2, 4, 3) for body in (voxels, moved)]
    expected = 0.4 * 0.5 + 0.6 * (1 - slow_distance(*turned))
    assert metric.using(along_rows=False)(truth, guess) == pytest.approx(expected)
