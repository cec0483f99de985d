from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.errors import InvalidSubmission
from podium.metrics.run_length import area, overlap, parse_runs, pixels, write_runs

examples = settings(max_examples=100)

SIZE = 12
masks = st.lists(st.booleans(), min_size=SIZE, max_size=SIZE)
blanks = st.sampled_from([" ", "  ", "\t", "\n", "\r\n", "\v", "\f"])


def write(mask: list[bool], blank: str = " ") -> str:
    """The mask as run-length text, by way of its pixels."""
    parts, place = [], 1
    for value, group in itertools.groupby(mask):
        length = len(list(group))
        parts += [str(place), str(length)] if value else []
        place += length
    return blank.join(parts)


def decode(text: str, size: int) -> list[bool]:
    mask = [False] * size
    numbers = [int(token) for token in text.split()]
    for start, length in zip(numbers[0::2], numbers[1::2], strict=True):
        for place in range(start - 1, min(start - 1 + length, size)):
            mask[place] = True
    return mask


@examples
@given(st.lists(st.tuples(masks, masks, blanks), max_size=6))
def test_overlap_is_that_of_the_pixels(rows: list[tuple[list[bool], list[bool], str]]) -> None:
    names = range(len(rows))
    left = parse_runs([write(a, blank) for a, _, blank in rows], names=names)
    right = parse_runs([blank + write(b) + blank for _, b, blank in rows], names=names)
    common = [sum(x and y for x, y in zip(a, b, strict=True)) for a, b, _ in rows]
    assert overlap(left, right).tolist() == common
    assert overlap(right, left).tolist() == common
    assert area(left).tolist() == [sum(a) for a, _, _ in rows]


@examples
@given(st.lists(masks, min_size=1, max_size=4))
def test_runs_lie_where_the_pixels_are(rows: list[list[bool]]) -> None:
    runs = parse_runs([write(mask) for mask in rows], names=["m"] * len(rows))
    drawn = np.zeros((runs.count, SIZE), dtype=bool)
    for row, start, stop in zip(runs.row, runs.start, runs.stop, strict=True):
        drawn[row, start:stop] = True
    assert drawn.tolist() == rows


@examples
@given(st.lists(masks, min_size=1, max_size=4))
def test_every_pixel_can_be_listed(rows: list[list[bool]]) -> None:
    row, place = pixels(parse_runs([write(mask) for mask in rows], names=["m"] * len(rows)))
    listed = zip(row.tolist(), place.tolist(), strict=True)
    assert list(listed) == [(i, j) for i, mask in enumerate(rows) for j, value in enumerate(mask) if value]


@examples
@given(masks)
def test_masks_are_written_as_runs(mask: list[bool]) -> None:
    assert write_runs(mask) == write(mask)
    assert write_runs(np.array(mask, dtype=np.uint8).reshape(3, -1)) == write(mask)


@examples
@given(st.lists(st.tuples(masks, st.integers(0, SIZE)), min_size=1, max_size=5))
def test_runs_past_the_size_are_cut(rows: list[tuple[list[bool], int]]) -> None:
    texts, sizes = [write(mask) for mask, _ in rows], np.array([size for _, size in rows])
    runs = parse_runs(texts, names=texts, size=sizes)
    assert area(runs).tolist() == [sum(decode(text, size)) for text, size in zip(texts, sizes, strict=True)]
    assert np.all(runs.start < runs.stop)
    assert np.all(runs.stop <= sizes[runs.row])


def test_adjacent_runs_are_allowed() -> None:
    assert area(parse_runs(["1 2 3 4"], names=["a"])).tolist() == [6]


@pytest.mark.parametrize("texts", [[], [""], ["", " ", "\n"]])
def test_nothing_is_an_empty_mask(texts: list[str]) -> None:
    runs = parse_runs(texts, names=texts)
    assert runs.count == len(texts)
    assert area(runs).tolist() == overlap(runs, runs).tolist() == [0] * len(texts)


MALFORMED = {
    "a": "'a' in the mask is not a positive whole number",
    "1 2 3.0 4": "'3.0' in the mask is not",
    "1 2 é 4": "'é' in the mask is not",
    "1 ٣": "'٣' in the mask is not",
    "1\u00a02": "in the mask is not",
    "1\x1c2": "in the mask is not",
    "1 2\0": "in the mask is not",
    "\ud800 1": "in the mask is not",
    "1 1_0": "'1_0' in the mask is not",
    "1 +2": "'\\+2' in the mask is not",
    "-1 2": "'-1' in the mask is not",
    "1 -2": "'-2' in the mask is not",
    "1 1e3": "'1e3' in the mask is not",
    "nan": "'nan' in the mask is not",
    "x" * 10_000: "in the mask is not",
    "1": "the mask has 1 number; pairs of start and length",
    "1 2 9": "the mask has 3 numbers; pairs of start and length",
    "0 3": "starts at 0",
    "5 0": "the run at 5 has length 0",
    "5 2 1 2": "the run at 1 follows one that ends at 6",
    "1 3 3 2": "the run at 3 follows one that ends at 3",
    "1 1 1 1": "the run at 1 follows",
    "1 1000000000001": "too large",
    "1 99999999999999999999999999999999": "too large",
}


@pytest.mark.parametrize("text", MALFORMED)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_malformed_mask_is_refused_by_name(text: str, place: int) -> None:
    texts = ["1 2 4 5", "", "7 3"]
    texts[place] = text
    with pytest.raises(InvalidSubmission, match=f"^img{place}.png: .*{MALFORMED[text]}") as caught:
        parse_runs(texts, names=["img0.png", "img1.png", "img2.png"])
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("text", ["1" * 1_000_000 + " a", "1" * 1_000_000 + "\va 2"])
def test_a_word_behind_a_million_digits_is_named_at_once(text: str) -> None:
    with pytest.raises(InvalidSubmission, match=r"^second: 'a' in the mask is not"):
        parse_runs(["1 2", text], names=["first", "second"])


def test_two_odd_rows_do_not_make_an_even_one() -> None:
    with pytest.raises(InvalidSubmission, match=r"^a: the mask has 1 number;"):
        parse_runs(["1", "2"], names=["a", "b"])


@examples
@given(st.lists(st.text("0123456789 -.x\u00a0é", max_size=12), min_size=1, max_size=4))
def test_any_text_is_read_or_refused(texts: list[str]) -> None:
    names = [f"mask {i}" for i in range(len(texts))]
    try:
        runs = parse_runs(texts, names=names)
    except InvalidSubmission as fault:
        assert str(fault).startswith(tuple(f"{name}: " for name in names))
    else:
        lengths = [[int(token) for token in text.split()[1::2]] for text in texts]
        assert area(runs).tolist() == list(map(sum, lengths))


def test_a_run_past_the_size_can_be_refused() -> None:
    texts, names = ["1 4", "3 3"], ["a", "b"]
    assert area(parse_runs(texts, names=names, size=5, strict_size=True)).tolist() == [4, 3]
    with pytest.raises(InvalidSubmission, match=r"^b: the run at 3 ends at 5; the mask has 4 pixels"):
        parse_runs(texts, names=names, size=np.array([4, 4]), strict_size=True)


def test_rows_correspond() -> None:
    with pytest.raises(ValueError, match="1 names for 2 masks"):
        parse_runs(["", ""], names=["a"])
    with pytest.raises(ValueError, match="1 and 2 masks"):
        overlap(parse_runs([""], names=["a"]), parse_runs(["", ""], names=["a", "b"]))


def test_huge_positions_do_not_wrap_around() -> None:
    texts = ["1000000000000 1000000000000"] * 1000
    runs = parse_runs(texts, names=texts)
    assert overlap(runs, runs).tolist() == [10**12] * 1000
