from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.metrics import map_at_k, token_sets, word_jaccard
from podium.metrics.token_sets import Tokens, encode, encode_parts, unique_pairs

examples = settings(max_examples=200)

BLANKS = "".join(filter(str.isspace, map(chr, range(sys.maxunicode + 1))))

words = st.text(st.sampled_from("ab\0\x7fä日\ud800𝄞\u200b\u2060"), min_size=1, max_size=3) | st.builds(
    lambda stem, times, end: stem * times + end,
    st.sampled_from("ab"),
    st.sampled_from([6, 7, 8, 9, 15, 16, 17, 24, 25, 63, 64, 65]),
    st.sampled_from(["", "a", "\0", "ä"]),
)
blanks = st.text(st.sampled_from(BLANKS), min_size=1, max_size=2)
texts = st.lists(words | blanks, max_size=9).map("".join) | st.text(max_size=20)
columns = st.lists(texts, min_size=1, max_size=7).flatmap(
    lambda truth: st.tuples(st.just(truth), st.lists(texts, min_size=len(truth), max_size=len(truth)))
)

Columns = tuple[list[str], list[str]]


def rows_of(side: Tokens) -> list[list[int]]:
    return [side.code[side.row == row].tolist() for row in range(len(side.counts))]


@examples
@given(columns)
def test_words_are_those_of_split_and_equal_ones_have_equal_numbers(sides: Columns) -> None:
    encoded = encode(*sides)
    numbers: dict[str, int] = {}
    for column, side in zip(sides, encoded, strict=True):
        for text, codes in zip(column, rows_of(side), strict=True):
            assert len(codes) == len(text.split())
            for word, code in zip(text.split(), codes, strict=True):
                assert numbers.setdefault(word, code) == code < side.vocabulary
    assert len(set(numbers.values())) == len(numbers)


@examples
@given(columns)
def test_places_and_sets_are_those_of_the_rows(sides: Columns) -> None:
    for column, side in zip(sides, encode(*sides), strict=True):
        places = [place for text in column for place in range(len(text.split()))]
        assert side.places(np.arange(len(side.code))).tolist() == places
        assert unique_pairs(side).sizes().tolist() == [len(set(text.split())) for text in column]


@pytest.mark.parametrize("blank", BLANKS)
def test_every_blank_of_unicode_parts_words(blank: str) -> None:
    left, right = encode([f"{blank}a{blank * 2}b"], ["ä"])
    assert left.counts.tolist() == [2]
    assert right.counts.tolist() == [1]


def test_one_endless_word_is_no_burden() -> None:
    long = "x" * 5_000_000
    left, right = encode([long, f"{long}y", "x"], [f"{long[1:]}y", long, "x"])
    assert [row[0] for row in rows_of(left)[1:]] != [row[0] for row in rows_of(right)[:2]]
    assert rows_of(left)[0] == rows_of(right)[1]
    assert rows_of(left)[2] == rows_of(right)[2]


def test_parts_score_as_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    truth, prediction = (np.array([" ".join(row) for row in rng.choice(list("abcdef"), (50, 3))]) for _ in range(2))
    whole = [map_at_k.using(k=2)(truth, prediction), word_jaccard(truth, prediction)]
    monkeypatch.setattr(token_sets, "_ROWS_OF_A_PART", 7)
    assert len(list(encode_parts(truth.tolist(), prediction.tolist()))) == 8
    assert [map_at_k.using(k=2)(truth, prediction), word_jaccard(truth, prediction)] == whole
