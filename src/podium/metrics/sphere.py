"""Scores of directions, and distances between places on the globe."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from podium.metrics.input_checks import FloatArray, numbers
from podium.task import metric

EARTH_RADIUS_M = 6_371_000.0


@metric("Mean angular error", higher_is_better=False)
@np.errstate(over="ignore", invalid="ignore")
def angular_error(truth: ArrayLike, prediction: ArrayLike) -> float:
    """Return the mean angle in radians between directions given by two columns, azimuth and zenith.

    angle = arccos(sin z sin w cos(a - b) + cos z cos w), for directions (a, z) and (b, w)

    >>> from podium.metrics import angular_error
    >>> angular_error([[0, 0]], [[0, 1.5]])
    1.5
    """
    (azimuth, zenith), (azimuth_2, zenith_2) = _two_columns(truth, prediction)
    cosine = np.sin(zenith) * np.sin(zenith_2) * np.cos(azimuth - azimuth_2) + np.cos(zenith) * np.cos(zenith_2)
    return float(np.mean(np.arccos(np.clip(cosine, -1, 1))))


@np.errstate(over="ignore", invalid="ignore")
def haversine_m(places: ArrayLike, others: ArrayLike) -> FloatArray:
    """Return the distance in metres of each pair of places given by two columns, latitude and longitude in degrees.

    h = sin^2((f - g) / 2) + cos f cos g sin^2((l - m) / 2), distance = 2 r arcsin(sqrt(h)), for (f, l) and (g, m)
    """
    left, right = _two_columns(places, others)
    (latitude, longitude), (latitude_2, longitude_2) = np.radians(left), np.radians(right)
    north, east = np.sin((latitude_2 - latitude) / 2), np.sin((longitude_2 - longitude) / 2)
    share = north**2 + np.cos(latitude) * np.cos(latitude_2) * east**2
    distance: FloatArray = 2 * EARTH_RADIUS_M * np.arcsin(np.sqrt(np.clip(share, 0, 1)))
    return distance


@metric("Mean percentile of the distance", higher_is_better=False)
def percentile_distance_m(
    truth: ArrayLike, prediction: ArrayLike, *, groups: ArrayLike, percentiles: Sequence[float] = (50, 95)
) -> float:
    """Return the mean over groups of places of some percentiles of the distance in metres, averaged.

    score = mean over groups g and percentiles q of (percentile q of the distances in g)

    >>> from podium.metrics import percentile_distance_m
    >>> round(percentile_distance_m.using(groups=["a"])([[0, 0]], [[0, 0.001]]), 1)
    111.2
    """
    distances, names = haversine_m(truth, prediction), np.asarray(groups)
    return float(np.mean([np.percentile(distances[names == name], percentiles) for name in np.unique(names)]))


def _two_columns(truth: ArrayLike, prediction: ArrayLike) -> tuple[FloatArray, FloatArray]:
    left, right = numbers(truth, prediction)
    if left.ndim != 2 or left.shape[1] != 2:
        raise ValueError(f"found shape {left.shape}; expected two columns")
    return left.T, right.T
