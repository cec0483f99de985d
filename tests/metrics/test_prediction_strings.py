from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.errors import InvalidSubmission
from podium.metrics import prediction_strings
from podium.metrics.prediction_strings import match_greedily, matching_pairs, parse_both, parse_objects, place_in_group

examples = settings(max_examples=40)

number = st.floats(-1e6, 1e6).map(lambda value: round(value, 3))
thing = st.tuples(st.sampled_from(["car", "U+306E", "日"]), number, number)
keys = st.lists(st.integers(0, 4), max_size=8).map(lambda values: np.array(values, dtype=np.int64))


@examples
@given(st.lists(st.lists(thing, max_size=4), max_size=5))
def test_every_object_is_read(rows: list[list[tuple[str, float, float]]]) -> None:
    texts = [" ".join(f"{label} {x} {y}" for label, x, y in row) for row in rows]
    found = parse_objects(texts, "label x y")
    assert found.count == len(rows)
    assert found.row.tolist() == [index for index, row in enumerate(rows) for _ in row]
    read = zip(found.label, found.values["x"], found.values["y"], strict=True)
    assert list(read) == [item for row in rows for item in row]
    assert found.columns("y", "x").tolist() == [[y, x] for row in rows for _, x, y in row]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("car 1", "the text has 2 values; 3 per object are expected"),
        ("car 1 2 car", "the text has 4 values"),
        ("car  1 2", "extra white space"),
        ("car 1 2 ", "extra white space"),
        (" ", "extra white space"),
        ("car\t1 2", "extra white space"),
        ("car left 2", "x is 'left'; a number is expected."),
        ("car 1 nan", "y is 'nan'; a number is expected."),
        ("car 1 2 car inf 3", "x is 'inf'; a number is expected."),
        ("car 1e31 2", "x is '1e31'; a number is expected."),
        ("car 1 " + "x" * 999, "y is 'xxx"),
    ],
)
def test_a_malformed_text_is_refused_by_name(text: str, problem: str) -> None:
    texts = ["car 1 2", "", text]
    with pytest.raises(InvalidSubmission, match=f"^page-7: .*{problem}") as caught:
        parse_objects(texts, "label x y", names=["page-1", "page-2", "page-7"])
    assert len(str(caught.value)) < 150
    with pytest.raises(InvalidSubmission, match=r"^row 3: "):
        parse_objects(texts, "label x y")


def test_any_white_space_can_be_allowed() -> None:
    found = parse_objects([" car\t1  2 ", "  "], "label x y", single_blanks=False)
    assert found.row.tolist() == [0]
    assert found.columns("x", "y").tolist() == [[1, 2]]


def test_a_malformed_truth_is_not_the_submissions_fault() -> None:
    with pytest.raises(ValueError, match="truth is malformed") as caught:
        parse_both(["car"], ["car 1 2"], "label x y", names=None)
    assert not isinstance(caught.value, InvalidSubmission)


@examples
@given(keys, keys, st.integers(1, 9))
def test_pairs_are_those_with_the_same_key(left: np.ndarray, right: np.ndarray, at_once: int) -> None:
    def measure(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        return first * 10.0 - second

    before = prediction_strings._PAIRS_AT_ONCE
    prediction_strings._PAIRS_AT_ONCE = at_once
    try:
        pairs = matching_pairs(left, right, measure, above=5)
    finally:
        prediction_strings._PAIRS_AT_ONCE = before
    expected = [(i, j) for i in range(len(left)) for j in range(len(right)) if left[i] == right[j] and 10 * i - j > 5]
    assert list(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True)) == expected
    assert pairs.value.tolist() == [10 * i - j for i, j in expected]


@examples
@given(keys)
def test_places_count_within_the_group(key: np.ndarray) -> None:
    assert place_in_group(key).tolist() == [key[:index].tolist().count(value) for index, value in enumerate(key)]


@examples
@given(
    st.lists(st.permutations(range(6)).flatmap(lambda order: st.integers(0, 6).map(lambda n: order[:n])), max_size=8)
)
def test_claimants_are_processed_in_order(wishes: list[list[int]]) -> None:
    taken: dict[int, int] = {}
    for claimant, wish in enumerate(wishes):
        free = [target for target in wish if target not in taken]
        if free:
            taken[free[0]] = claimant
    pairs = np.array([(i, target) for i, wish in enumerate(wishes) for target in wish], dtype=np.int64).reshape(-1, 2)
    chosen = pairs[match_greedily(pairs[:, 0], pairs[:, 1])]
    assert {target: claimant for claimant, target in chosen.tolist()} == taken
    assert len(chosen) == len(taken)
