"""Aggregation: MLE-bench's published numbers from counts of medals, and padding by hand."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from making import HIGH, LOW, MEDIUM, imported, medalists, report, results, row

from podium.errors import UsageError
from podium.report.aggregate import RESEARCH_VALUES, arrange, headline, plus_minus, summarise
from podium.report.rendering.result_tables import notes
from podium.report.results import Results

# Medals per seed on the 22 low, 38 medium and 15 high tasks that give rows of MLE-bench's leaderboard.
PUBLISHED = {
    "R&D-Agent, gpt-5": (
        ((14, 15, 16), (8, 9, 7), (4, 3, 3)),
        ("68.18 ± 2.62", "21.05 ± 1.52", "22.22 ± 2.22", "35.11 ± 0.44"),
    ),
    "CAIR MLE-STAR-Pro": (
        ((14, 15, 15), (9, 10, 10), (5, 4, 5)),
        ("66.67 ± 1.52", "25.44 ± 0.88", "31.11 ± 2.22", "38.67 ± 0.77"),
    ),
    "InternAgent": (
        ((13, 13, 15), (9, 12, 9), (4, 4, 3)),
        ("62.12 ± 3.03", "26.32 ± 2.63", "24.44 ± 2.22", "36.44 ± 1.18"),
    ),
    "Neo": (
        ((10, 11, 11), (11, 10, 13), (4, 4, 3)),
        ("48.48 ± 1.52", "29.82 ± 2.32", "24.44 ± 2.22", "34.22 ± 0.89"),
    ),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_rows_come_out_to_two_decimals(name: str, tmp_path: Path) -> None:
    counts, expected = PUBLISHED[name]
    seeds = [
        [one for tasks, count in zip((LOW, MEDIUM, HIGH), seed, strict=True) for one in medalists(tasks, count)]
        for seed in zip(*counts, strict=True)
    ]
    summary = summarise(imported(tmp_path, seeds))
    found = {group.group: plus_minus(group.measures["any_medal"], 2) for group in summary.competitions}
    assert tuple(found[group] for group in ("low", "medium", "high", "all")) == expected


def test_the_papers_first_row_comes_out_to_its_decimal(tmp_path: Path) -> None:
    counts = [9] * 4 + [10] * 4 + [15] + [16] * 7
    summary = summarise(imported(tmp_path, [medalists(LOW + MEDIUM + HIGH, count) for count in counts]))
    assert plus_minus(summary.competitions[0].measures["any_medal"]) == "16.9 ± 1.1"
    assert headline(summary) == "16.9 ± 1.1 % of tasks with a medal (75 tasks, 16 seeds)"


def test_each_measure_counts_the_right_runs(tmp_path: Path) -> None:
    a, b, c, d = LOW[:4]
    seed = [
        report(a, "gold"),
        report(b, "bronze"),
        report(c, valid_submission=False),
        report(d, submission_exists=False, valid_submission=False),
    ]
    found = summarise(imported(tmp_path, [seed])).competitions[0].measures
    means = {name: measured.mean for name, measured in found.items()}
    expected = {
        "submitted": 75,
        "valid": 50,
        "above_median": 50,
        "bronze": 25,
        "silver": 0,
        "gold": 25,
        "any_medal": 50,
    }
    assert {name: means[name] for name in expected} == expected


def two_tasks() -> Results:
    """Three runs of one task, all with a medal; one of another, without."""
    rows = [row(LOW[0], seed, medal="gold") for seed in range(3)] + [row(LOW[1], 0)]
    return results(
        "one", [*rows, row(LOW[1], 1, status="missing", valid=False), row(LOW[1], 2, status="failed", valid=False)]
    )


def test_without_padding_only_complete_seeds_count() -> None:
    found = summarise(two_tasks()).competitions[0]
    assert (found.seeds, found.measures["any_medal"].per_seed) == (2, (50.0, 50.0))
    assert found.note == "2 tasks, 2 seeds; 1 run outside the complete seeds excluded"


def test_padding_counts_missing_runs_as_failures_and_notes_it() -> None:
    found = summarise(two_tasks(), pad=True).competitions[0]
    assert found.seeds == 3
    assert found.measures["valid"].per_seed == (100.0, 50.0, 50.0)
    assert found.note == "2 tasks, 3 seeds; 1 missing run counted as failed"


def test_a_failed_run_is_a_report_and_a_failure() -> None:
    rows = [row(LOW[0]), row(LOW[1], status="failed", submitted=False, valid=False, error="out of memory")]
    summary = summarise(results("one", rows))
    assert summary.competitions[0].measures["valid"].mean == 50.0
    assert summary.causes == {"run_failed": 1}
    assert summary.counts["failed"] == 1


def test_a_record_that_cannot_be_read_is_a_failure_and_takes_no_seed_away() -> None:
    rows = [row(LOW[0], seed, medal="gold") for seed in range(2)]
    rows += [row(LOW[1], 0, medal="gold"), row(LOW[1], 1, status="unreadable", submitted=False, valid=False)]
    found = summarise(results("one", rows)).competitions[0]
    assert found.measures["any_medal"].per_seed == (100.0, 50.0)


def test_seed_i_is_the_ith_report_of_a_task() -> None:
    rows = [row(LOW[0], 0, status="missing", valid=False), row(LOW[0], 1, medal="gold"), row(LOW[1], 0, medal="gold")]
    grid = arrange(rows, LOW[:2])
    assert grid.seeds == 1
    assert [cells[0].seed for cells in grid.cells if cells[0]] == [1, 0]


def test_the_number_of_seeds_can_be_limited() -> None:
    assert summarise(two_tasks(), seeds=1).competitions[0].measures["any_medal"].per_seed == (50.0,)


def test_a_task_without_any_report_leaves_no_complete_seed() -> None:
    rows = [row(LOW[0], medal="gold"), row(LOW[1], status="running", valid=False)]
    summary = summarise(results("one", rows))
    assert summary.competitions[0].measures == {}
    assert headline(summary) == "1 of 2 runs done, 1 running"
    assert f"no run of {LOW[1]} has ended" in summary.competitions[0].note
    assert summarise(results("one", rows), pad=True).competitions[0].measures["any_medal"].mean == 50.0


def test_a_suite_makes_absent_tasks_missing() -> None:
    some = results("one", [row(task, medal="gold") for task in LOW[:11]])
    assert summarise(some, tasks=LOW).competitions[0].seeds == 0
    padded = summarise(some, tasks=LOW, pad=True)
    assert padded.competitions[0].measures["any_medal"].mean == 50.0
    assert padded.counts["missing"] == 11
    with pytest.raises(UsageError, match="none of these tasks"):
        summarise(some, tasks=HIGH)


def test_percentile_counts_failures_as_zero_and_skips_unknown_values() -> None:
    rows = [row(LOW[0], percentile=80.0), row(LOW[1], valid=False, submitted=False), row(LOW[2], percentile=None)]
    assert summarise(results("one", rows)).competitions[0].measures["percentile"].mean == 40.0


def test_pass_at_k_is_the_mean_over_tasks(tmp_path: Path) -> None:
    seeds = [medalists(LOW[:2], count) for count in (1, 0, 2, 0)]
    found = summarise(imported(tmp_path, seeds)).pass_at_k
    # The first task has 2 medals of 4, the second 1: pass@2 = (5/6 + 1/2) / 2.
    assert [at.percent for at in found] == pytest.approx([37.5, 100 * (5 / 6 + 0.5) / 2, 100 * (1 + 0.75) / 2, 100])
    assert [at.customary for at in found] == [True, True, False, False]


def test_competitions_are_grouped_by_kind_of_data(tmp_path: Path) -> None:
    seed = [report("spaceship-titanic", "gold"), report("leaf-classification"), report("spooky-author-identification")]
    kinds = {group.group: group for group in summarise(imported(tmp_path, [seed])).kinds}
    assert sum(group.tasks for group in kinds.values()) == 3
    assert kinds["tabular classification"].measures["any_medal"].mean == 100.0


def test_success_at_any_step_is_known_only_where_steps_were_graded() -> None:
    rows = [
        row("vectorization", 0, improvement=2.0, best_improvement=12.0, valid=True),
        row("vectorization", 1, improvement=None, valid=False),
        row("vectorization", 2, improvement=30.0, valid=True),
    ]
    value = RESEARCH_VALUES["success_at_10_at_any_step"]
    assert [value(row) for row in rows[:2]] == [100.0, 0.0]
    assert math.isnan(value(rows[2]))


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"status": "failed", "error": "it crashed"}, id="crashed run of the untouched starter"),
        pytest.param({"steps": 0}, id="no steps"),
        pytest.param({"beyond_noise": False}, id="within noise"),
        pytest.param({"beyond_noise": None}, id="noise not known"),
    ],
)
def test_the_headline_does_not_flatter(changes: dict[str, Any]) -> None:
    known = {"competition": False, "improvement": 31.5, "beyond_noise": True, "steps": 3}
    for changed, percent in ((known, "100.0"), (known | changes, "0.0")):
        found = summarise(results("one", [row("vectorization", 0, **changed)]))
        assert headline(found).startswith(f"{percent} % of tasks improved by more than 10 % and beyond noise")


@pytest.mark.parametrize("changes", [{"status": "failed"}, {"steps": 0}])
def test_crashes_and_runs_without_steps_are_no_success_at_any_threshold(changes: dict[str, Any]) -> None:
    flattering = row("vectorization", 0, improvement=99.0, best_improvement=99.0, beyond_noise=True, **changes)
    measures = [name for name in RESEARCH_VALUES if "success" in name or name in ("improved", "beyond_noise")]
    assert {RESEARCH_VALUES[name](flattering) for name in measures} == {0.0}


def test_research_tasks_count_successes_and_improvement() -> None:
    known = {"competition": False, "medal": None}
    rows = [
        row("cifar10", 0, improvement=12.0, beyond_noise=True, **known),
        row("cifar10", 1, improvement=40.0, beyond_noise=True, **known),
        row("house-price", 0, improvement=6.0, beyond_noise=False, **known),
        row("house-price", 1, valid=False, submitted=False, **known),
    ]
    found = summarise(results("one", rows))
    assert found.research is not None
    assert found.competitions == ()
    means = {name: measured.mean for name, measured in found.research.measures.items()}
    assert [means[f"success_at_{limit}"] for limit in (5, 10, 15, 20, 30)] == [75, 50, 25, 25, 25]
    # Over runs with a score: (12 + 6) / 2 and 40.
    assert means["improvement"] == pytest.approx((9 + 40) / 2)
    assert means["beyond_noise"] == 50
    assert headline(found).startswith("50.0 ± 0.0 % of tasks improved by more than 10 % and beyond noise")


def test_usage_is_summed_where_it_is_known() -> None:
    rows = [row(LOW[0], tokens=100, cost=1.0), row(LOW[1], tokens=300, cost=0.5), row(LOW[2], status="missing")]
    usage = summarise(results("one", rows)).usage
    assert (usage["tokens"].mean, usage["tokens"].total, usage["cost"].total) == (200.0, 400.0, 1.5)
    assert "working_s" not in usage


def test_tasks_from_public_seeds_are_named_in_the_notes() -> None:
    rows = [row("forge-graph-medium-107"), row("forge-graph-hard-x" + "a" * 26), row(LOW[0])]
    summary = summarise(results("one", rows))
    assert summary.not_secret == 1
    assert any("1 task generated from public seeds" in note for note in notes([summary]))
    assert not any("public seeds" in note for note in notes([summarise(results("two", rows[1:]))]))
