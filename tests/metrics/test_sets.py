from __future__ import annotations

import numpy as np
import pytest
import sklearn.metrics
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.preprocessing import MultiLabelBinarizer

from podium.metrics import label_mean_f1, label_micro_f1, word_jaccard

examples = settings(max_examples=50)

words = st.sampled_from(["a", "A", "b", "ß", "ẞ", "ΣΑΣ", "σας", "İ", "日本", "a\0", "1"])
blanks = st.sampled_from([" ", "  ", "\t", "\n", "\u3000"])
lists = st.lists(st.tuples(words, blanks), max_size=6).map(lambda parts: "".join(word + blank for word, blank in parts))
rows = st.lists(st.tuples(lists | st.text(max_size=8), lists), min_size=1, max_size=6)

Rows = list[tuple[str, str]]


def sides(texts: Rows) -> tuple[np.ndarray, np.ndarray]:
    return np.array([t for t, _ in texts], dtype=object), np.array([p for _, p in texts], dtype=object)


def label_sets(texts: Rows) -> list[tuple[set[str], set[str]]]:
    return [(set(t.split()), set(p.split())) for t, p in texts]


@examples
@given(rows, st.sampled_from([0.0, 0.5, 1.0]))
def test_jaccard_compares_lower_cased_words(texts: Rows, both_empty: float) -> None:
    total = 0.0
    for truth, prediction in texts:
        left, right = set(truth.lower().split()), set(prediction.lower().split())
        total += len(left & right) / len(left | right) if left | right else both_empty
    score = word_jaccard.using(both_empty=both_empty)(*sides(texts))
    assert score == pytest.approx(total / len(texts))


def test_two_empty_texts_are_alike() -> None:
    assert word_jaccard(["", " "], [" ", "a"]) == 0.5
    assert label_mean_f1(["", " "], [" ", "a"]) == 0.5


@examples
@given(rows, st.booleans())
def test_micro_f1_counts_all_pairs(texts: Rows, ignore_unknown: bool) -> None:
    sets = label_sets(texts)
    known = {label for truth, _ in sets for label in truth}
    hits = wrong = missed = 0
    for truth, prediction in sets:
        kept = prediction & known if ignore_unknown else prediction
        hits, wrong, missed = hits + len(truth & kept), wrong + len(kept - truth), missed + len(truth - kept)
    slow = 2 * hits / (2 * hits + wrong + missed) if hits + wrong + missed else 0.0
    assert label_micro_f1.using(ignore_unknown=ignore_unknown)(*sides(texts)) == pytest.approx(slow)


@examples
@given(rows)
def test_mean_f1_averages_rows(texts: Rows) -> None:
    slow = [2 * len(t & p) / (len(t) + len(p)) if t or p else 1.0 for t, p in label_sets(texts)]
    assert label_mean_f1(*sides(texts)) == pytest.approx(sum(slow) / len(slow))


@examples
@given(rows)
def test_label_f1_is_that_of_scikit_learn(texts: Rows) -> None:
    sets = label_sets(texts)
    # scikit-learn takes a single column for a plain list of labels.
    labels = ["never", "nowhere", *{label for pair in sets for label in pair[0] | pair[1]}]
    table = MultiLabelBinarizer(classes=labels).fit([])
    truth, prediction = (table.transform([pair[i] for pair in sets]) for i in (0, 1))
    micro = sklearn.metrics.f1_score(truth, prediction, average="micro", zero_division=0)
    each = sklearn.metrics.f1_score(truth, prediction, average="samples", zero_division=0)
    assert label_micro_f1(*sides(texts)) == pytest.approx(micro)
    assert label_mean_f1.using(both_empty=0.0)(*sides(texts)) == pytest.approx(each)
