"""Comparing two experiments: the difference, how certain it is, and when they may not be compared."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from making import LOW, imported, medalists, results, row

from podium.errors import UsageError
from podium.report.aggregate import headline, summarise
from podium.report.comparison import compare
from podium.report.results import Results


def with_medals(name: str, medals: dict[str, list[bool]], **changes: Any) -> Results:
    rows = [
        row(task, seed, name, medal="gold" if won else None, **changes)
        for task, runs in medals.items()
        for seed, won in enumerate(runs)
    ]
    return results(name, rows)


def test_a_clear_difference_is_settled() -> None:
    better = with_medals("better", {task: [True, True] for task in LOW[:6]})
    worse = with_medals("worse", {task: [False, False] for task in LOW[:6]})
    found = compare(better, worse)
    main = found.differences[0]
    assert (main.measure, main.difference, main.settled) == ("any_medal", 100.0, True)
    assert main.p == pytest.approx(2 / 6**6)
    assert main.settling.more_seeds == 0
    assert found.verdict.startswith("better is 100.0 points ahead of worse in any medal, more than chance explains")
    assert found.warnings == ()


def test_an_unsettled_comparison_recommends_more_seeds() -> None:
    one = with_medals("one", {LOW[0]: [True, True], LOW[1]: [True, False], LOW[2]: [False, False]})
    other = with_medals("other", {LOW[0]: [True, False], LOW[1]: [False, True], LOW[2]: [False, False]})
    found = compare(one, other)
    assert not found.differences[0].settled
    assert "not settled" in found.verdict
    assert "more seeds of every task on each side" in found.verdict
    assert found.tasks[0].task == LOW[0]
    assert (found.tasks[0].first, found.tasks[0].second) == (100.0, 50.0)


def test_obfuscated_twins_are_compared_with_the_tasks_themselves() -> None:
    plain = with_medals("plain", {task: [True, True] for task in LOW[:6]})
    hidden = with_medals("hidden", {f"obfuscated-{task}": [False, False] for task in LOW[:6]})
    found = compare(plain, hidden)
    main = found.differences[0]
    assert (main.difference, main.tasks) == (100.0, 6)
    assert main.interval is not None
    assert main.p < 0.01
    assert "hidden ran obfuscated tasks" in found.warnings[0]
    assert compare(hidden, hidden).warnings == ()


def test_swapping_the_experiments_flips_the_sign() -> None:
    one = with_medals("one", {LOW[0]: [True], LOW[1]: [False], LOW[2]: [True]})
    other = with_medals("other", {LOW[0]: [False], LOW[1]: [False], LOW[2]: [True]})
    there, back = compare(one, other).differences[0], compare(other, one).differences[0]
    assert there.difference == -back.difference
    assert there.p == back.p


def test_another_edition_is_refused() -> None:
    one = with_medals("one", {LOW[0]: [True]})
    other = with_medals("other", {LOW[0]: [True]}, edition="fixed")
    with pytest.raises(UsageError, match="edition v1 in the first and edition fixed in the second"):
        compare(one, other)


def test_a_miniature_is_not_compared_with_the_real_task() -> None:
    one = results("one", [row(LOW[0]), row(LOW[1])])
    other = results("other", [row(LOW[0], miniature=True), row(LOW[1], medal="gold")])
    found = compare(one, other)
    assert [task.task for task in found.tasks] == [LOW[1]]
    assert any("miniature on one side only" in warning for warning in found.warnings)


def test_no_common_task_is_refused() -> None:
    with pytest.raises(UsageError, match="no task in common"):
        compare(with_medals("one", {LOW[0]: [True]}), with_medals("other", {LOW[1]: [True]}))


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("budget", {"time_s": 120.0}, "Different budget: time_s 60.0 vs. time_s 120.0."),
        ("network", True, "Different network: closed vs. open."),
        ("gpus", 1, "Different GPUs per execution: 0 vs. 1."),
    ],
)
def test_different_conditions_give_a_warning(name: str, value: Any, words: str) -> None:
    one, other = (with_medals(which, {LOW[0]: [True], LOW[1]: [False]}) for which in ("one", "other"))
    other = results("other", other.rows, **{name: value})
    assert words in compare(one, other).warnings


def test_unshared_tasks_are_excluded_with_a_warning() -> None:
    one = with_medals("one", {LOW[0]: [True], LOW[1]: [True]})
    other = with_medals("other", {LOW[0]: [True]})
    found = compare(one, other)
    assert found.differences[0].tasks == 1
    assert f"Excluded 1 task ({LOW[1]}): only one has it." in found.warnings


def test_missing_runs_are_excluded_or_padded_with_a_warning() -> None:
    one = results("one", [row(LOW[0], medal="gold"), row(LOW[0], 1, status="missing", valid=False)])
    other = results("other", [row(LOW[0], medal="gold"), row(LOW[0], 1, medal="gold")])
    assert compare(one, other).differences[0].difference == 0.0
    padded = compare(one, other, pad=True)
    assert padded.differences[0].difference == -50.0
    assert "one: 1 missing or unfinished run counted as failed." in padded.warnings


def test_a_record_that_cannot_be_read_is_compared_as_a_failure() -> None:
    one = results("one", [row(LOW[0], medal="gold"), row(LOW[0], 1, status="unreadable", valid=False)])
    other = results("other", [row(LOW[0], medal="gold"), row(LOW[0], 1, medal="gold")])
    found = compare(one, other)
    assert found.differences[0].difference == -50.0
    assert "one: 1 unreadable record counted as failed." in found.warnings


def test_an_import_is_compared_with_a_warning(tmp_path: Path) -> None:
    ours = with_medals("ours", {task: [True] for task in LOW[:3]})
    found = compare(ours, imported(tmp_path, [medalists(LOW[:3], 1)]))
    assert found.differences[0].difference == pytest.approx(200 / 3)
    assert any("imported" in warning for warning in found.warnings)


def test_without_noise_data_success_at_10_is_the_main_measure() -> None:
    ours = results("ours", [row("cifar10", 0, "ours", competition=False, improvement=20.0, beyond_noise=True)])
    trial = row("cifar10", 0, "theirs", competition=False, improvement=30.0)
    theirs = replace(results("theirs", [trial]), imported=True)
    found = compare(ours, theirs)
    assert [difference.measure for difference in found.differences] == ["success_at_10", "improvement", "valid"]
    assert found.differences[0].difference == 0.0 == found.tasks[0].difference
    assert headline(summarise(theirs)).startswith("100.0 % of tasks improved by more than 10 % (")
    assert compare(ours, replace(theirs, imported=False)).differences[0].measure == "improved"


def test_research_tasks_are_compared_by_success() -> None:
    one, other = (
        results(name, [row("cifar10", 0, name, competition=False, improvement=gain)])
        for name, gain in (("one", 20.0), ("other", 5.0))
    )
    found = compare(one, other)
    assert found.differences[0].measure == "improved"
    assert {difference.measure: difference.difference for difference in found.differences}["improvement"] == 15.0
