from __future__ import annotations

import numpy as np
import pytest
import sklearn.metrics
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.metrics import roc_auc
from podium.metrics.fairness import bias_auc

examples = settings(max_examples=50)

row = st.tuples(st.booleans(), st.sampled_from([0.1, 0.2, 0.5, 0.9]), st.booleans(), st.booleans())
both_classes_everywhere = [(p, 0.5, a, b) for p in (False, True) for a in (False, True) for b in (False, True)]


def slow_score(table: list[tuple[bool, float, bool, bool]], power: float) -> float:
    def auc(chosen: list[tuple[bool, float, bool, bool]]) -> float:
        return float(sklearn.metrics.roc_auc_score([r[0] for r in chosen], [r[1] for r in chosen]))

    def mean(values: list[float]) -> float:
        return 0.0 if 0 in values else float((sum(v**power for v in values) / len(values)) ** (1 / power))

    within = [auc([r for r in table if r[g]]) for g in (2, 3)]
    positives_outside = [auc([r for r in table if (r[g] and not r[0]) or (not r[g] and r[0])]) for g in (2, 3)]
    negatives_outside = [auc([r for r in table if (r[g] and r[0]) or (not r[g] and not r[0])]) for g in (2, 3)]
    return 0.25 * (auc(table) + mean(within) + mean(positives_outside) + mean(negatives_outside))


@examples
@given(st.lists(row, max_size=20), st.sampled_from([-5.0, -1.0, 2.0]))
def test_bias_auc_is_the_mean_of_four_aucs(rows: list[tuple[bool, float, bool, bool]], power: float) -> None:
    table = rows + both_classes_everywhere
    columns = np.array(table, dtype=float)
    score = bias_auc.using(groups=columns[:, 2:], power=power)(columns[:, 0], columns[:, 1])
    assert score == pytest.approx(slow_score(table, power))


def test_perfect_inverted_and_constant() -> None:
    table = np.array(both_classes_everywhere, dtype=float)
    scored = bias_auc.using(groups=table[:, 2:])
    assert scored(table[:, 0], table[:, 0]) == 1
    assert scored(table[:, 0], 1 - table[:, 0]) == 0
    assert scored(table[:, 0], table[:, 1]) == 0.5


def test_one_group_of_everybody_or_of_one_class_is_undefined() -> None:
    truth, score = np.array([0, 1, 0, 1]), np.array([0.1, 0.4, 0.3, 0.2])
    assert roc_auc(truth, score) == 0.75
    assert np.isnan(bias_auc.using(groups=np.ones((4, 1)))(truth, score))
    assert np.isnan(bias_auc.using(groups=np.zeros((4, 1)))(truth, score))


def test_groups_must_have_a_row_per_row() -> None:
    with pytest.raises(ValueError, match="groups have shape"):
        bias_auc.using(groups=np.ones((3, 1)))([0, 1], [0.1, 0.2])
