"""Ranks of contenders on real and forged tasks: who is first, and how well both sides agree."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from agents_table import as_lines, comparison, far_behind, taken_up, task_table
from validity import agreement, compare, has_both_sides, page, ranks, spearman

NAMES = ["good", "middle", "poor"]


def result(score: float, *, valid: bool = True) -> dict[str, Any]:
    return {"score": score if valid else None, "valid": valid, "is_sample": False, "ended_by": "the agent"}


def task(scores: list[float], *, higher: bool = True, kind: str = "tabular classification") -> dict[str, Any]:
    results = {name: result(score) for name, score in zip(NAMES, scores, strict=True)}
    return {"kind": kind, "metric": "m", "higher_is_better": higher, **results}


def test_rows_are_compared_by_their_order() -> None:
    one = np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [1.0, 1.0, 1.0]])
    other = np.array([[10.0, 20.0, 90.0], [3.0, 2.0, 1.0], [1.0, 2.0, 3.0]])
    assert spearman(one, other) == pytest.approx([1.0, -1.0, 0.0])


def test_an_invalid_submission_is_last_and_equals_share_a_rank() -> None:
    facts = task([0.5, 0.5, 0.9])
    assert ranks({"a": facts}, NAMES, forged=False).tolist() == [[2.5, 2.5, 1.0]]
    facts["poor"] = result(0.0, valid=False)
    assert ranks({"a": facts}, NAMES, forged=False).tolist() == [[1.5, 1.5, 3.0]]
    assert ranks({"a": task([1, 2, 3], higher=False)}, NAMES, forged=False).tolist() == [[1, 2, 3]]


def test_sides_that_agree_on_every_task_leave_no_doubt() -> None:
    table = np.tile([1.0, 2.0, 3.0, 4.0], (5, 1))
    assert agreement(table, table)["interval"] == pytest.approx([1.0, 1.0])
    assert agreement(table, table[:, ::-1])["spearman"] == pytest.approx(-1.0)


def test_few_tasks_say_nothing() -> None:
    table = np.tile([1.0, 2.0, 3.0], (2, 1))
    assert agreement(table, np.tile(table, (3, 1)))["spearman"] is None


def test_the_interval_is_wide_where_tasks_differ() -> None:
    rng = np.random.default_rng(0)
    noisy = np.array([rng.permutation(6) + 1.0 for _ in range(12)])
    low, high = agreement(noisy, np.tile(np.arange(1.0, 7.0), (12, 1)))["interval"]
    assert high - low > 0.5


def test_kinds_are_compared_where_both_sides_have_them_and_incomplete_tasks_are_left_out() -> None:
    tasks = {f"forge-tables-regression-medium-{seed}": task([1, 2, 3], higher=False) for seed in range(3)}
    tasks |= {name: task([1, 2, 3], higher=False, kind="tabular regression") for name in ("x", "y", "z")}
    tasks["chicago-trains"] = task([1, 2, 3], higher=False, kind="tabular regression")
    tasks["half"] = {name: value for name, value in task([1, 2, 3]).items() if name != "poor"}
    assert has_both_sides(tasks)
    assert not has_both_sides({name: facts for name, facts in tasks.items() if name in ("x", "y", "half")})
    found = compare(tasks)
    assert found["left_out"] == 1
    assert found["agreement"]["regression"]["spearman"] == pytest.approx(1.0)
    assert found["agreement"]["forecast"] == {
        "real": 1,
        "forged": 0,
        "contenders": 3,
        "spearman": None,
        "interval": None,
    }
    assert found["contenders"]["good"]["real"]["mean_rank"] == 1.0
    assert "| good | 1.00 (1.00 to 1.00) | 1.00 (1.00 to 1.00) | 0% | 0 | 0 |" in page({"60": found})


def kept_result(score: float) -> dict[str, Any]:
    return {**result(score), "percentile": 50.0, "medal": None, "working_s": 1.0}


def test_results_of_one_working_time_belong_together_and_later_ones_count() -> None:
    about = {"kind": "k", "metric": "m", "higher_is_better": True}
    results = [
        {"time_s": 300.0, "versions": {"flaml": "1"}, "tasks": {"a": {**about, "good": kept_result(3)}}},
        {"time_s": 60.0, "versions": {}, "tasks": {"a": {**about, "good": kept_result(1)}}},
        {"time_s": 60.0, "versions": {}, "tasks": {"a": {**about, "good": kept_result(4), "poor": kept_result(2)}}},
    ]
    kept = taken_up(taken_up({}, results[:2]), results[2:])
    assert json.loads(as_lines(kept)) == kept
    assert list(kept) == ["60", "300"]
    assert {name: kept["60"]["tasks"]["a"][name]["score"] for name in ("good", "poor")} == {"good": 4, "poor": 2}
    assert kept["300"]["versions"] == {"flaml": "1"}


def test_recipes_are_compared_with_each_contender_on_the_tasks_of_both() -> None:
    about = {"metric": "m", "higher_is_better": False, "kind": "k"}
    tasks = {
        "a": {**about, "recipes": kept_result(1), "flaml": kept_result(2), "linear": kept_result(1)},
        "b": {**about, "recipes": kept_result(3), "flaml": kept_result(2)},
        "forge-graph-medium-1": {**about, "recipes": kept_result(3), "flaml": kept_result(4)},
    }
    tasks["b"]["flaml"] |= {"valid": False, "score": None}
    assert comparison(tasks)[2:] == ["| flaml | 2 | 0 | 0 | 1 | 0 | 0 |", "| linear | 0 | 1 | 0 | 0 | 0 | 0 |"]
    assert "| b | m ↓ | 3, 50% | invalid |" in task_table(tasks)


def test_who_is_far_behind_is_said_by_errors() -> None:
    good, poor = {"recipes": result(0.95)}, {"recipes": result(0.90)}
    lost = {"recipes": result(0.0, valid=False)}
    about = {"kind": "tabular classification", "metric": "m", "higher_is_better": True, "flaml": result(0.95)}
    tasks = {"one": about | good, "two": about | poor, "three": about | lost, "forge-graph-medium-1": about | good}
    said = far_behind(tasks)
    assert "recipes on 2 of 3 real and 0 of 1 forged tasks; flaml on 0 of 3" in said
    off = {"higher_is_better": False, "recipes": result(1.09), "flaml": result(1.0)}
    assert "recipes on 0 of 1 real" in far_behind({"one": about | off})
    assert "recipes on 1 of 1 real" in far_behind({"one": about | off | {"recipes": result(1.11)}})
