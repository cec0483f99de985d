from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from podium.errors import InvalidSubmission
from podium.metrics import dice, f_beta, mean_iou, rle_dice, rle_mean_iou
from podium.metrics.segmentation import rle_f_beta, rle_iou_precision

examples = settings(max_examples=50)

shapes = st.sampled_from([(1, 4), (3, 5), (2, 2, 3), (4,), (2, 1, 2, 2)])


def both_sides(shape: tuple[int, ...]) -> st.SearchStrategy[tuple[np.ndarray, np.ndarray]]:
    side = arrays.arrays(np.bool_, shape)
    return st.tuples(side, side)


def samples(pair: tuple[np.ndarray, np.ndarray]) -> list[tuple[list[bool], list[bool]]]:
    return [(np.ravel(a).tolist(), np.ravel(b).tolist()) for a, b in zip(*pair, strict=True)]


def sizes(left: list[bool], right: list[bool]) -> tuple[int, int, int]:
    common = sum(a and b for a, b in zip(left, right, strict=True))
    either = sum(a or b for a, b in zip(left, right, strict=True))
    return common, sum(left) + sum(right), either


def slow_dice(left: list[bool], right: list[bool]) -> float:
    common, total, _ = sizes(left, right)
    return 2 * common / total if total else 1.0


def slow_iou(left: list[bool], right: list[bool]) -> float:
    common, _, either = sizes(left, right)
    return common / either if either else 1.0


def write(mask: list[bool]) -> str:
    place, parts = 1, []
    for value, group in itertools.groupby(mask):
        length = len(list(group))
        parts += [f"{place} {length}"] if value else []
        place += length
    return " ".join(parts)


@examples
@given(shapes.flatmap(both_sides))
def test_masks_are_compared_pixel_by_pixel(pair: tuple[np.ndarray, np.ndarray]) -> None:
    rows = samples(pair)
    everything = [list(itertools.chain.from_iterable(side)) for side in zip(*rows, strict=True)]
    assert dice(*pair) == pytest.approx(sum(slow_dice(*row) for row in rows) / len(rows))
    assert dice.using(pooled=True)(*pair) == pytest.approx(slow_dice(*everything))
    assert mean_iou(*pair) == pytest.approx(sum(slow_iou(*row) for row in rows) / len(rows))


@examples
@given(shapes.flatmap(both_sides))
def test_runs_score_as_their_pixels_do(pair: tuple[np.ndarray, np.ndarray]) -> None:
    truth, prediction = ([write(np.ravel(mask).tolist()) for mask in side] for side in pair)
    for pooled in (False, True):
        score = rle_dice.using(pooled=pooled)(truth, prediction)
        assert score == pytest.approx(dice.using(pooled=pooled)(*pair))
    assert rle_mean_iou(truth, prediction) == pytest.approx(mean_iou(*pair))


@examples
@given(shapes.flatmap(both_sides), st.sampled_from([0.5, 1.0, 2.0]))
def test_runs_have_the_f_beta_of_their_pixels(pair: tuple[np.ndarray, np.ndarray], beta: float) -> None:
    truth, prediction = ([write(np.ravel(mask).tolist()) for mask in side] for side in pair)
    expected = [f_beta.using(beta=beta)(*np.atleast_1d(*row)) for row in zip(*pair, strict=True)]
    assert rle_f_beta.using(beta=beta)(truth, prediction) == pytest.approx(np.mean(expected))


@examples
@given(shapes.flatmap(both_sides), st.booleans())
def test_precision_is_the_share_of_thresholds_exceeded(pair: tuple[np.ndarray, np.ndarray], blank_is_all: bool) -> None:
    truth, prediction = ([write(np.ravel(mask).tolist()) for mask in side] for side in pair)
    size, shares = pair[0][0].size, []
    for left, right in samples(pair):
        covering = blank_is_all and any(left) and not any(right)
        iou = slow_iou(left, [True] * size if covering else right)
        shares.append(sum(iou > threshold for threshold in np.arange(0.5, 1.0, 0.05)) / 10)
    metric = rle_iou_precision.using(size=size, blank_is_all=blank_is_all)
    assert metric(truth, prediction) == pytest.approx(np.mean(shares))


def test_zeros_and_ones_are_masks_too() -> None:
    assert dice(np.array([[0, 1, 1]]), np.array([[0.0, 1.0, 0.0]])) == pytest.approx(2 / 3)
    with pytest.raises(ValueError, match="only 0 and 1"):
        dice(np.array([[0, 1]]), np.array([[0.0, 0.5]]))


def test_runs_are_cut_at_the_size() -> None:
    assert rle_dice.using(size=4)(["3 2"], ["3 9"]) == 1
    assert rle_mean_iou.using(size=np.array([4]))(["3 2"], ["3 9"]) == 1
    with pytest.raises(InvalidSubmission, match=r"^row 1: the run at 3 ends at 11"):
        rle_dice.using(size=4, strict_size=True)(["3 2"], ["3 9"])


def test_a_malformed_prediction_is_the_submissions_fault() -> None:
    with pytest.raises(InvalidSubmission, match=r"^row 2: 'x'"):
        rle_dice(["", ""], ["", "x"])
    with pytest.raises(InvalidSubmission, match=r"^b: 'x'"):
        rle_mean_iou.using(names=["a", "b"])(["", ""], ["", "x"])


def test_a_malformed_truth_is_not() -> None:
    with pytest.raises(ValueError, match="truth is malformed") as caught:
        rle_dice(["x"], [""])
    assert not isinstance(caught.value, InvalidSubmission)
