from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.metrics import mean_levenshtein, normalised_levenshtein

examples = settings(max_examples=50)

strings = st.text("ab é日😀\0", max_size=6) | st.text(max_size=5)
rows = st.lists(st.tuples(strings, strings), min_size=1, max_size=5)
tokens = st.lists(st.sampled_from(["a", "ab", "é", "97", "b"]), max_size=6).map(" ".join)

Rows = list[tuple[str, str]]


def sides(texts: Rows) -> tuple[np.ndarray, np.ndarray]:
    return np.array([t for t, _ in texts], dtype=object), np.array([p for _, p in texts], dtype=object)


def slow_distance(left: Sequence[str], right: Sequence[str]) -> int:
    previous = list(range(len(right) + 1))
    for i, a in enumerate(left, start=1):
        current = [i]
        for j, b in enumerate(right, start=1):
            current.append(min(previous[j] + 1, current[-1] + 1, previous[j - 1] + (a != b)))
        previous = current
    return previous[-1]


@examples
@given(rows)
def test_mean_distance_counts_characters(texts: Rows) -> None:
    slow = [slow_distance(t, p) for t, p in texts]
    assert mean_levenshtein(*sides(texts)) == pytest.approx(sum(slow) / len(slow))


@examples
@given(st.lists(st.tuples(tokens, tokens | strings), min_size=1, max_size=5))
def test_normalised_distance_counts_tokens(texts: Rows) -> None:
    distance = sum(slow_distance(t.split(), p.split()) for t, p in texts)
    length = sum(len(t.split()) for t, _ in texts)
    slow = distance / length if length else math.nan
    assert normalised_levenshtein(*sides(texts)) == pytest.approx(slow, nan_ok=True)


def test_accents_are_characters() -> None:
    assert mean_levenshtein(["café", ""], ["cafe", "xyz"]) == 2
