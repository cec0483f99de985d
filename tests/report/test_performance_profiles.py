"""Performance profiles and AUP, worked out by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest
from making import results, row

from podium.report.performance_profiles import TaskScores, profiles, task_scores


def test_profiles_of_two_methods_on_two_tasks() -> None:
    # Ratios: a 1 and 2 (lower is better), b 2 and 1. Worst 2, so tau ends at log10(ceil(2.1)) = 0.477, up to 0.5.
    found = profiles([TaskScores({"a": 0.8, "b": 0.4}, True), TaskScores({"a": 6.0, "b": 3.0}, False)])
    assert found is not None
    assert len(found.tau) == 500
    assert found.tau[-1] == pytest.approx(0.5)
    assert found.rho["a"][0] == 0.5
    assert found.rho["a"][-1] == 1.0
    # Half until log10(2) = 0.30103, then one: the sum takes each step's left end.
    step = 0.5 / 499
    steps_below = math.ceil(math.log10(2) / step)
    expected = step * (0.5 * steps_below + 1.0 * (499 - steps_below))
    assert found.area["a"] == pytest.approx(expected)
    assert found.area["a"] == found.area["b"]
    assert expected == pytest.approx(0.5 * 0.30103 + 1.0 * (0.5 - 0.30103), abs=step)


def test_infeasible_scores_count_as_slightly_worse_than_the_worst() -> None:
    scores = {"best": 1.0, "half": 0.5, "none": None, "negative": -1.0, "poor": 0.1, "baseline": 0.25}
    found = profiles([TaskScores(scores, True, baseline=0.25)])
    assert found is not None
    worst = 1.05 * 4  # the baseline's ratio is the worst that is feasible
    at = {name: next(t for t, r in zip(found.tau, rho, strict=True) if r == 1.0) for name, rho in found.rho.items()}
    assert at["best"] == 0.0
    assert at["half"] == pytest.approx(math.log10(2), abs=0.002)
    for name in ("none", "negative", "poor"):
        assert at[name] == pytest.approx(math.log10(worst), abs=0.002)
    assert found.tau[-1] == pytest.approx(math.ceil(10 * math.log10(math.ceil(worst))) / 10)


def test_an_unsolved_task_is_excluded() -> None:
    assert profiles([TaskScores({"a": None, "b": -1.0}, True)]) is None


def test_a_perfect_score_of_zero_is_the_best_and_others_are_not_feasible() -> None:
    found = profiles([TaskScores({"a": 0.0, "b": 0.1}, False)])
    assert found is not None
    assert found.rho["a"][0] == 1.0
    assert found.rho["b"][0] == 0.0


def test_task_scores_are_the_best_score_of_each_experiment() -> None:
    first = results("a", [row("x", 0, "a", score=0.3), row("x", 1, "a", score=0.7), row("y", 0, "a")])
    second = results("b", [row("x", 0, "b", score=None, valid=False)])
    assert task_scores([first, second]) == [TaskScores({"a": 0.7, "b": None}, True)]
    assert task_scores([first, second], {"x": 0.2}) == [TaskScores({"a": 0.7, "b": None, "baseline": 0.2}, True, 0.2)]


def test_a_baseline_that_only_some_tasks_have_does_not_compete() -> None:
    first = results("a", [row("x", 0, "a"), row("y", 0, "a")])
    second = results("b", [row("x", 0, "b"), row("y", 0, "b")])
    found = task_scores([first, second], {"x": 0.2})
    assert [set(contest.scores) for contest in found] == [{"a", "b"}] * 2
    assert [contest.baseline for contest in found] == [0.2, None]


def test_scores_of_any_size_have_profiles() -> None:
    for higher in (True, False):
        found = profiles(
            [TaskScores({"one": 1e300, "other": 1e-10}, higher), TaskScores({"one": 2.0, "other": 1.0}, True)]
        )
        assert found is not None and all(math.isfinite(area) for area in found.area.values())


@pytest.mark.parametrize("changes", [{"edition": "fixed"}, {"miniature": True}])
def test_other_editions_and_miniatures_are_never_mixed_with_the_task_itself(changes: dict[str, Any]) -> None:
    one = results("one", [row("a", experiment="one"), row("b", experiment="one")])
    other = results("other", [row("a", experiment="other"), row("b", experiment="other", **changes)])
    assert len(task_scores([one, other])) == 1
