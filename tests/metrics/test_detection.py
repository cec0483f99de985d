from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score

from podium.errors import InvalidSubmission
from podium.metrics.detection import average_precision, box_map, coco_map, point_f1

examples = settings(max_examples=40)

Box = tuple[str, float, float, float, float, float]
"""Label, confidence and corners."""
Rows = list[tuple[list[Box], list[Box]]]
"""True and predicted boxes of each picture."""

coordinate = st.integers(0, 5).map(float)
confidence = st.sampled_from([-0.5, 0.0, 0.25, 0.5, 0.9, 7.0])


def boxes(labels: list[str], *, proper: bool) -> st.SearchStrategy[list[Box]]:
    end = st.integers(1, 5).map(float)
    box = st.tuples(st.sampled_from(labels), confidence, coordinate, coordinate, end, end)
    if proper:
        box = box.map(lambda b: (*b[:4], b[2] + b[4], b[3] + b[5]))
    return st.lists(box, max_size=5)


def pictures(labels: list[str]) -> st.SearchStrategy[Rows]:
    rows = st.lists(st.tuples(boxes(labels[:-1], proper=True), boxes(labels, proper=False)), min_size=2, max_size=4)
    return rows.filter(lambda found: any(true for true, _ in found))


def write(found: list[Box]) -> str:
    return " ".join(" ".join(map(str, box)) for box in found)


def columns(rows: Rows) -> tuple[list[str], list[str]]:
    return [write(true) for true, _ in rows], [write(guessed) for _, guessed in rows]


def overlap(a: Box, b: Box, *, sizes: bool = False) -> float:
    ax, ay, bx, by = a[2], a[3], b[2], b[3]
    ax2, ay2, bx2, by2 = (ax + a[4], ay + a[5], bx + b[4], by + b[5]) if sizes else (a[4], a[5], b[4], b[5])
    common = max(0.0, min(ax2, bx2) - max(ax, bx)) * max(0.0, min(ay2, by2) - max(ay, by))
    union = (ax2 - ax) * (ay2 - ay) + (bx2 - bx) * (by2 - by) - common
    return common / union if union > 0 else 0.0


def slow_box_map(rows: Rows, iou: float) -> float:
    scores = []
    for label in {box[0] for true, _ in rows for box in true}:
        relevant, confidences = [], []
        for true, guessed in rows:
            free = [box for box in true if box[0] == label]
            mine = sorted((box for box in guessed if box[0] == label), key=lambda box: -box[1])
            if not free and not mine:
                relevant.append(0)
                confidences.append(0.0)
            for guess in mine:
                best = max(free, key=lambda box: overlap(guess, box), default=None)
                hit = best is not None and overlap(guess, best) > iou
                if hit:
                    free.remove(best)
                relevant.append(int(hit))
                confidences.append(guess[1])
            relevant += [1] * len(free)
            confidences += [0.0] * len(free)
        scores.append(average_precision_score(relevant, confidences))
    return float(np.mean(scores))


@examples
@given(pictures(["cat", "dog", "cow"]), st.sampled_from([0.25, 0.5]))
def test_boxes_take_the_best_free_true_box(rows: Rows, iou: float) -> None:
    truth, prediction = columns(rows)
    assert box_map.using(iou=iou)(truth, prediction) == pytest.approx(slow_box_map(rows, iou))


JUNK = "cat -1 90 90 91 91"


def test_junk_below_zero_scores_nothing_where_misses_are_not_found() -> None:
    truth = ["cat 1 0 0 10 10", "cat 1 5 5 9 9"]
    assert box_map(truth, [JUNK, JUNK]) == 1, "as in MLE-bench"
    strict = box_map.using(misses_found=False)
    with pytest.raises(InvalidSubmission, match=r"^second: confidence is -1; it must be greater than 0\.$"):
        strict.using(names=["first", "second"])(truth, [truth[0], JUNK])
    with pytest.raises(InvalidSubmission, match=r"^row 1: confidence is 0; it must be greater than 0\.$"):
        strict(truth, [JUNK.replace("-1", "0"), ""])
    assert strict(truth, [JUNK.replace("-1", "0.1"), ""]) == strict(truth, ["", ""]) == 0
    assert strict(truth, [truth[0], JUNK.replace("-1", "0.1")]) == 0.5
    assert strict(truth, truth) == 1


@examples
@given(st.lists(st.tuples(st.booleans(), confidence), min_size=1, max_size=9).filter(lambda p: any(r for r, _ in p)))
def test_average_precision_is_that_of_scikit_learn(pairs: list[tuple[bool, float]]) -> None:
    relevant, scores = np.array([r for r, _ in pairs]), np.array([s for _, s in pairs])
    assert average_precision(relevant, scores) == pytest.approx(average_precision_score(relevant, scores))


def slow_coco_map(rows: Rows, iou: float, most: int, *, sizes: bool, first_id: int, order: list[int]) -> float:
    """COCO's evaluation as it is written: ids mark who is matched, and 0 stands for nobody."""
    true_ids, guess_ids, next_true, next_guess = {}, {}, first_id, first_id
    for picture in range(len(rows)):
        for place in range(len(rows[picture][0])):
            true_ids[picture, place] = next_true
            next_true += 1
    for picture in order:
        for place in range(len(rows[picture][1])):
            guess_ids[picture, place] = next_guess
            next_guess += 1
    labels = sorted({int(box[0]) for true, _ in rows for box in true})
    scores = []
    for label in labels:
        found = []
        for picture, (true, guessed) in enumerate(rows):
            mine = [(place, box) for place, box in enumerate(guessed) if int(float(box[0])) == label]
            mine = sorted(mine, key=lambda item: -item[1][1])[:most]
            targets = [(place, box) for place, box in enumerate(true) if int(box[0]) == label]
            matched = dict.fromkeys((place for place, _ in targets), 0)
            for place, guess in mine:
                best, winner = iou, None
                for target, box in targets:
                    if matched[target] > 0 or overlap(guess, box, sizes=sizes) < best:
                        continue
                    best, winner = overlap(guess, box, sizes=sizes), target
                identity = 0
                if winner is not None:
                    identity = true_ids[picture, winner]
                    matched[winner] = guess_ids[picture, place]
                area = (guess[4] - guess[2]) * (guess[5] - guess[3])
                if identity > 0 or area >= 0:
                    found.append((guess[1], identity > 0))
        found.sort(key=lambda item: -item[0])
        positives = sum(int(box[0]) == label for true, _ in rows for box in true)
        hits = np.cumsum([hit for _, hit in found])
        precision = [hits[i] / (i + 1) for i in range(len(found))]
        levels = [
            max((precision[i] for i in range(len(found)) if hits[i] / positives >= level), default=0.0)
            for level in np.linspace(0, 1, 101)
        ]
        scores.append(np.mean(levels))
    return float(np.mean(scores))


numbered = pictures(["1", "2", "3.7", "9"])


@examples
@given(numbered, st.sampled_from([0.25, 0.4]), st.integers(1, 4), st.booleans())
def test_coco(rows: Rows, iou: float, most: int, sizes: bool) -> None:
    rows = [([(str(int(float(b[0]))), *b[1:]) for b in true], guessed) for true, guessed in rows]
    truth, prediction = columns(rows)
    expected = slow_coco_map(rows, iou, most, sizes=sizes, first_id=1, order=list(range(len(rows))))
    assert coco_map.using(iou=iou, most=most, corners=not sizes)(truth, prediction) == pytest.approx(expected)


@examples
@given(numbered, st.booleans(), st.data())
def test_coco_with_ids_from_zero(rows: Rows, sizes: bool, data: st.DataObject) -> None:
    """Where no picture has two true boxes of a class, which is all that the quirk was met with."""
    rows = [(list({str(int(float(b[0]))): b for b in true}.values()), guessed) for true, guessed in rows]
    rows = [([(str(int(float(b[0]))), *b[1:]) for b in true], guessed) for true, guessed in rows]
    first = data.draw(st.integers(0, len(rows) - 1).filter(lambda row: rows[row][1] or not any(g for _, g in rows)))
    order = [first, *(row for row in range(len(rows)) if row != first)]
    truth, prediction = columns(rows)
    expected = slow_coco_map(rows, 0.4, 100, sizes=sizes, first_id=0, order=order)
    assert coco_map.using(iou=0.4, corners=not sizes, id_zero=first)(truth, prediction) == pytest.approx(expected)


def test_unmatched_true_boxes_count() -> None:
    truth = ["1 1 0 0 2 2", "2 1 0 0 2 2"]
    assert coco_map(truth, ["1 0.3 0 0 2 2", ""]) == pytest.approx(0.5)
    assert coco_map(truth, ["", ""]) == 0
    assert box_map(truth, truth) == 1


character = st.tuples(st.sampled_from("ab"), st.integers(0, 4), st.integers(0, 4), st.integers(1, 3), st.integers(1, 3))
point = st.tuples(
    st.sampled_from("abc"), st.integers(0, 6).map(lambda x: x / 2), st.integers(0, 6).map(lambda y: y / 2)
)


@examples
@given(st.lists(st.tuples(st.lists(character, max_size=6), st.lists(point, max_size=6)), min_size=1, max_size=3))
def test_boxes_take_the_first_free_point_inside(rows: list[tuple[list, list]]) -> None:
    hits = total = 0
    for true, guessed in rows:
        free = list(guessed)
        total += len(true) + len(guessed)
        for label, x, y, width, height in true:
            inside = [p for p in free if p[0] == label and x < p[1] < x + width and y < p[2] < y + height]
            if inside:
                free.remove(inside[0])
                hits += 1
    truth, prediction = ([" ".join(" ".join(map(str, item)) for item in row[side]) for row in rows] for side in (0, 1))
    assert point_f1(truth, prediction) == pytest.approx(2 * hits / total if hits else 0)


def test_faults_are_named() -> None:
    for metric in (box_map, coco_map, point_f1):
        with pytest.raises(InvalidSubmission, match=r"^img7: .* per object"):
            metric.using(names=["img3", "img7"])(["", ""], ["", "1 2"])
