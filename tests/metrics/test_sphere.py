from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.metrics.sphere import EARTH_RADIUS_M, angular_error, haversine_m, percentile_distance_m

examples = settings(max_examples=50)

Pair = tuple[float, float]
directions = st.tuples(st.floats(0, 2 * math.pi), st.floats(0, math.pi))
places = st.tuples(st.floats(-90, 90), st.floats(-180, 180))


def angle_between(left: np.ndarray, right: np.ndarray) -> float:
    """By the chord between two unit vectors, a formula that neither function uses."""
    return 2 * math.asin(min(1.0, float(np.linalg.norm(left - right)) / 2))


def pointing(direction: Pair) -> np.ndarray:
    azimuth, zenith = direction
    around = math.sin(zenith)
    return np.array([around * math.cos(azimuth), around * math.sin(azimuth), math.cos(zenith)])


def standing(place: Pair) -> np.ndarray:
    latitude, longitude = map(math.radians, place)
    return pointing((longitude, math.pi / 2 - latitude))


@examples
@given(st.lists(st.tuples(directions, directions), min_size=1, max_size=6))
def test_the_error_is_the_mean_angle_between_the_vectors(rows: list[tuple[Pair, Pair]]) -> None:
    expected = np.mean([angle_between(pointing(left), pointing(right)) for left, right in rows])
    truth, prediction = map(np.array, zip(*rows, strict=True))
    assert angular_error(truth, prediction) == pytest.approx(expected, abs=1e-7)
    assert angular_error(truth, np.add(prediction, [6 * math.pi, 0])) == pytest.approx(expected, abs=1e-7)


@examples
@given(st.lists(st.tuples(places, places), min_size=1, max_size=6))
def test_the_distance_is_the_arc_between_the_places(rows: list[tuple[Pair, Pair]]) -> None:
    expected = [EARTH_RADIUS_M * angle_between(standing(left), standing(right)) for left, right in rows]
    left, right = map(np.array, zip(*rows, strict=True))
    assert haversine_m(left, right) == pytest.approx(expected, abs=1)
    assert haversine_m(right, left) == pytest.approx(haversine_m(left, np.add(right, [0, 360])), abs=1)


def test_a_small_step_is_measured_to_the_millimetre() -> None:
    step = 1e-5
    assert haversine_m([[37.0, -122.0]], [[37.0 + step, -122.0]])[0] == pytest.approx(1.11195, abs=1e-3)
    assert haversine_m([[0.0, 0.0]], [[0.0, 180.0]])[0] == pytest.approx(math.pi * EARTH_RADIUS_M)


def test_opposite_directions_are_half_a_turn_apart() -> None:
    assert angular_error([[0.3, 1.0]], [[0.3 + math.pi, math.pi - 1.0]]) == pytest.approx(math.pi)
    assert angular_error([[0.3, 1.0]], [[0.3, 1.0]]) == pytest.approx(0, abs=1e-7)


@pytest.mark.parametrize("wrong", [[[1.0, 2.0, 3.0]], [1.0, 2.0]])
def test_two_columns_are_expected(wrong: list[object]) -> None:
    with pytest.raises(ValueError, match="two columns"):
        angular_error(wrong, wrong)
    with pytest.raises(ValueError, match="two columns"):
        haversine_m(wrong, wrong)


def test_percentiles_are_those_of_each_group() -> None:
    degree = math.pi * EARTH_RADIUS_M / 180
    truth, guess = np.zeros((5, 2)), np.array([[1.0, 0], [2, 0], [3, 0], [4, 0], [10, 0]])
    expected = degree * np.mean([np.percentile([1, 2, 10], [50, 95]), np.percentile([3, 4], [50, 95])])
    assert percentile_distance_m.using(groups=list("aabba"))(truth, guess) == pytest.approx(expected)
