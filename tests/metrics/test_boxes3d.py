from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.errors import InvalidSubmission
from podium.metrics.boxes3d import box3d_iou, box3d_map

examples = settings(max_examples=40)

Point = tuple[float, float]
Shape = tuple[float, float, float, float, float, float, float]
"""Centre, width, length, height, yaw."""

angle = st.one_of(st.floats(-4, 4), st.sampled_from([0.0, math.pi / 2, math.pi, -math.pi / 4]))
centre = st.one_of(st.floats(-2, 2), st.integers(-2, 2).map(float))
side = st.one_of(st.floats(0.2, 4), st.integers(1, 3).map(float))
shapes = st.tuples(centre, centre, centre, side, side, side, angle)


def ground(shape: Shape) -> list[Point]:
    x, y, _, width, length, _, yaw = shape
    corners = [(length / 2, width / 2), (-length / 2, width / 2), (-length / 2, -width / 2), (length / 2, -width / 2)]
    return [(x + a * math.cos(yaw) - b * math.sin(yaw), y + a * math.sin(yaw) + b * math.cos(yaw)) for a, b in corners]


def clipped(polygon: list[Point], start: Point, end: Point) -> list[Point]:
    """What lies to the left of a line."""

    def depth(p: Point) -> float:
        return (end[0] - start[0]) * (p[1] - start[1]) - (end[1] - start[1]) * (p[0] - start[0])

    kept = []
    for here, there in zip(polygon, polygon[1:] + polygon[:1], strict=True):
        if depth(here) >= 0:
            kept.append(here)
        if (depth(here) >= 0) != (depth(there) >= 0):
            share = depth(here) / (depth(here) - depth(there))
            kept.append((here[0] + share * (there[0] - here[0]), here[1] + share * (there[1] - here[1])))
    return kept


def slow_iou(left: Shape, right: Shape) -> float:
    polygon, frame = ground(left), ground(right)
    for start, end in zip(frame, frame[1:] + frame[:1], strict=True):
        polygon = clipped(polygon, start, end)
    following = polygon[1:] + polygon[:1]
    area = abs(sum(a[0] * b[1] - a[1] * b[0] for a, b in zip(polygon, following, strict=True))) / 2
    top, bottom = (
        min(left[2] + left[5] / 2, right[2] + right[5] / 2),
        max(left[2] - left[5] / 2, right[2] - right[5] / 2),
    )
    common = area * max(0.0, top - bottom)
    return common / (math.prod(left[3:6]) + math.prod(right[3:6]) - common)


@examples
@given(st.lists(st.tuples(shapes, shapes), min_size=1, max_size=5), st.floats(-3000, 3000))
def test_iou_is_that_of_the_clipped_polygons(pairs: list[tuple[Shape, Shape]], shift: float) -> None:
    left, right = (np.array([pair[index] for pair in pairs]) for index in (0, 1))
    expected = [slow_iou(*pair) for pair in pairs]
    assert box3d_iou(left, right) == pytest.approx(expected, abs=1e-9)
    assert box3d_iou(right, left) == pytest.approx(expected, abs=1e-9)
    left[:, :2] += shift
    right[:, :2] += shift
    assert box3d_iou(left, right) == pytest.approx(expected, abs=1e-7)


@examples
@given(shapes, st.integers(0, 3))
def test_a_box_overlaps_itself_whichever_way_it_is_turned(shape: Shape, turns: int) -> None:
    width, length = (shape[3], shape[4]) if turns % 2 == 0 else (shape[4], shape[3])
    turned = (*shape[:3], width, length, shape[5], shape[6] + turns * math.pi / 2)
    assert box3d_iou(np.array([shape]), np.array([turned])) == pytest.approx([1], abs=1e-9)


def test_no_boxes_no_overlaps() -> None:
    assert box3d_iou(np.zeros((0, 7)), np.zeros((0, 7))).tolist() == []


Thing = tuple[float, Shape, str]
box = st.tuples(st.sampled_from([0.1, 0.5, 0.9]), shapes, st.sampled_from(["car", "bus"]))


@st.composite
def scenes(draw: st.DrawFn) -> tuple[list[Thing], list[Thing]]:
    """True boxes, and predicted ones of which most are moved true ones."""
    true = draw(st.lists(box, min_size=1, max_size=4))
    moved = st.tuples(
        st.sampled_from(true), st.sampled_from([0.0, 0.03, 0.1, 0.2, 5.0]), st.sampled_from([0.2, 0.5, 0.8])
    )
    guesses = [
        (confidence, (x + move, *rest), label)
        for (_, (x, *rest), label), move, confidence in draw(st.lists(moved, max_size=6))
    ]
    return true, guesses + draw(st.lists(st.tuples(st.just(0.4), shapes, st.just("tram")), max_size=2))


def slow_map(rows: list[tuple[list[Thing], list[Thing]]], thresholds: list[float]) -> float:
    scores = []
    for true, guessed in rows:
        for threshold in thresholds:
            per_class = []
            for label in {thing[2] for thing in true}:
                targets = [thing for thing in true if thing[2] == label]
                mine = sorted((thing for thing in guessed if thing[2] == label), key=lambda thing: -thing[0])
                taken, hits = set(), []
                for guess in mine:
                    overlaps = [slow_iou(guess[1], target[1]) for target in targets]
                    best = int(np.argmax(overlaps))
                    hit = overlaps[best] > threshold and best not in taken
                    hits.append(hit)
                    taken |= {best} if hit else set()
                precision = [sum(hits[: i + 1]) / (i + 1) for i in range(len(hits))]
                envelope = [max(precision[i:]) for i in range(len(hits))]
                per_class.append(sum(value for value, hit in zip(envelope, hits, strict=True) if hit) / len(targets))
            scores.append(np.mean(per_class))
    return float(np.mean(scores))


def write(things: list[Thing]) -> str:
    return " ".join(f"{confidence} {' '.join(map(str, shape))} {label}" for confidence, shape, label in things)


@examples
@given(st.lists(scenes(), min_size=1, max_size=3))
def test_map(rows: list[tuple[list[Thing], list[Thing]]]) -> None:
    thresholds = [0.501, 0.613, 0.887]  # off the round values where rounding would decide
    truth, prediction = [write(true) for true, _ in rows], [write(guessed) for _, guessed in rows]
    assert box3d_map.using(thresholds=thresholds)(truth, prediction) == pytest.approx(slow_map(rows, thresholds))
    assert box3d_map(truth, truth) == pytest.approx(slow_map([(true, true) for true, _ in rows], [0.5, 0.7, 0.95]))


@pytest.mark.parametrize(("place", "name"), [(4, "width"), (5, "length"), (6, "height")])
@pytest.mark.parametrize("value", ["0", "-1.5"])
def test_sizes_are_positive(place: int, name: str, value: str) -> None:
    good = "0.9 1 2 3 1 2 3 0.5 car"
    tokens = good.split()
    tokens[place] = value
    with pytest.raises(InvalidSubmission, match=f"^abc: {name} is {value}; it must be greater than 0"):
        box3d_map.using(names=["xyz", "abc"])([good, good], [good, " ".join(tokens)])
