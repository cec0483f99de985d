from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.errors import InvalidSubmission
from podium.metrics import (
    box_map,
    input_checks,
    kendall_tau,
    mean_levenshtein,
    normalised_levenshtein,
    rle_dice,
    word_jaccard,
)

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


def test_far_more_words_than_the_truth_has_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(input_checks, "MIN_WORD_LIMIT", 1000)
    assert mean_levenshtein(["b", ""], ["", "a " * 1000]) == 1000.5
    for metric in (mean_levenshtein, normalised_levenshtein, kendall_tau, word_jaccard, rle_dice, box_map):
        with pytest.raises(InvalidSubmission, match=r"^The texts have more than 1,000 words in total\."):
            metric(["b", ""], ["\t1", "a " * 1000])


def test_a_truth_with_many_words_allows_predictions_of_twenty_times_as_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(input_checks, "MIN_WORD_LIMIT", 1000)
    truth = ["a " * 100, "b"]
    assert normalised_levenshtein(truth, ["a " * 2059, "b"]) == 1959 / 101
    with pytest.raises(InvalidSubmission, match=r"more than 2,060 words"):
        normalised_levenshtein(truth, ["a " * 2060, "b"])
