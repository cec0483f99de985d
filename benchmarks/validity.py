"""Whether doing well on forged tasks means doing well on real ones: contenders ranked on both.

    python benchmarks/validity.py [--docs]

Reads docs/agents.json, in which benchmarks/agents_table.py keeps what was measured. On each task the contenders are
ranked by score, an invalid submission last. Mean ranks on real tasks are compared with mean ranks on forged ones by
Spearman's correlation over contenders, with an interval by a bootstrap that draws tasks again on both sides. The same
is done for kinds of tasks that there are on both sides. Only tasks with a result of every contender count.

--docs writes the tables of docs/validity.md. It says nothing of agents that no contender resembles, nor of kinds of
tasks without real ones.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

import numpy as np
from agents_table import DOCS, LABELS, contenders_of, is_forged, read_kept, signed, write_tables
from scipy.stats import rankdata

from podium.catalog.forge.forge_ids import parse_id
from podium.catalog.open_tables.package_tables import HERE as OPEN_TABLES

MARK = "<!-- tables: benchmarks/validity.py -->"
REPEATS = 2_000
GROUPS = {
    "tables-classification": "classification",
    "tabular-classification": "classification",
    "tables-regression": "regression",
    "tabular-regression": "regression",
    "time-series": "forecast",
    "hierarchical-forecasts": "forecast",
}
"""The kinds of tasks that there are on both sides, by family."""
LEAST = 3
"""Fewer tasks than these on a side say nothing."""

Ranks = np.ndarray
"""A row for each task, a column for each contender; 1 is best."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--docs", action="store_true", help="write the tables of docs/validity.md")
    arguments = parser.parse_args()
    found = {time: compare(facts["tasks"]) for time, facts in read_kept().items() if has_both_sides(facts["tasks"])}
    print("\n".join(page(found)))
    if arguments.docs:
        write_tables(DOCS / "validity.md", MARK, page(found))


def compare(tasks: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Everything that is said of the contenders at one working time."""
    names, complete = contenders_of(tasks), complete_tasks(tasks)
    sides = {"real": ranks(complete, names, forged=False), "forged": ranks(complete, names, forged=True)}
    return {
        "contenders": {
            name: {side: about(table, number) for side, table in sides.items()}
            | {"invalid": float(np.mean([not facts[name]["valid"] for facts in complete.values()]))}
            | {"samples": sum(facts[name]["is_sample"] for facts in complete.values())}
            | {"out_of_time": sum(facts[name]["ended_by"] == "working time" for facts in complete.values())}
            for number, name in enumerate(names)
        },
        "left_out": len(tasks) - len(complete),
        "agreement": {
            group: agreement(*(ranks(complete, names, forged=forged, group=group) for forged in (False, True)))
            for group in ("all", *dict.fromkeys(GROUPS.values()))
        },
    }


def complete_tasks(tasks: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Those that every contender has a result on."""
    names = contenders_of(tasks)
    return {task: facts for task, facts in tasks.items() if all(name in facts for name in names)}


def has_both_sides(tasks: dict[str, dict[str, Any]]) -> bool:
    """Whether there are forged and real tasks to compare."""
    return {is_forged(task) for task in complete_tasks(tasks)} == {False, True}


def group_of(task: str, kind: str) -> str | None:
    """The kind of task that is found on both sides; a real regression on later rows is a forecast."""
    if is_forged(task):
        return GROUPS.get(parse_id(task).family)
    measured = OPEN_TABLES / f"{task}.json"
    split = json.loads(measured.read_text(encoding="utf-8"))["split"] if measured.is_file() else {}
    if "regression" in kind:
        return "forecast" if "later" in split else "regression"
    return "classification" if "classification" in kind else None


def ranks(tasks: dict[str, dict[str, Any]], names: list[str], *, forged: bool, group: str = "all") -> Ranks:
    """The contenders' ranks on the tasks of a side; equal scores share a rank."""
    rows = [
        [signed(facts[name], facts["higher_is_better"]) for name in names]
        for task, facts in tasks.items()
        if is_forged(task) == forged and group in ("all", group_of(task, facts["kind"]))
    ]
    return rankdata(-np.array(rows).reshape(len(rows), len(names)), axis=1)


def about(table: Ranks, number: int) -> dict[str, Any] | None:
    """A contender's mean rank with its interval."""
    if not len(table):
        return None
    low, high = np.quantile(resampled(table)[:, number], (0.025, 0.975))
    return {"tasks": len(table), "mean_rank": float(table[:, number].mean()), "interval": [float(low), float(high)]}


def resampled(table: Ranks, seed: int = 0) -> np.ndarray:
    """Mean ranks for many draws of as many tasks: a row for each draw."""
    drawn = np.random.default_rng(seed).integers(len(table), size=(REPEATS, len(table)))
    return np.asarray(table[drawn].mean(axis=1))


def agreement(real: Ranks, forged: Ranks) -> dict[str, Any]:
    """Spearman's correlation of mean ranks over contenders, and its interval over tasks."""
    counts = {"real": len(real), "forged": len(forged), "contenders": real.shape[1]}
    if min(len(real), len(forged)) < LEAST or real.shape[1] < LEAST:
        return {**counts, "spearman": None, "interval": None}
    draws = spearman(resampled(real, 1), resampled(forged, 2))
    low, high = np.quantile(draws, (0.025, 0.975))
    found = spearman(real.mean(axis=0)[None], forged.mean(axis=0)[None])
    return {**counts, "spearman": float(found[0]), "interval": [float(low), float(high)]}


def spearman(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Spearman's correlation of two tables row by row; 0 where all values of a row are the same."""
    first, second = (rankdata(table, axis=1) for table in (one, other))
    first, second = (table - table.mean(axis=1, keepdims=True) for table in (first, second))
    scale = np.sqrt((first**2).sum(axis=1) * (second**2).sum(axis=1))
    return np.asarray((first * second).sum(axis=1) / np.where(scale > 0, scale, 1.0))


def page(found: dict[str, dict[str, Any]]) -> list[str]:
    """The tables, as they stand in the documentation."""
    lines = []
    for time, facts in found.items():
        lines += [f"### {time} s of working time", "", *agreement_table(facts), "", *contender_table(facts), ""]
        if facts["left_out"]:
            lines += [f"Left out, because some contender has no result: {facts['left_out']} tasks.", ""]
    return lines or ["No task has a result of every contender."]


def agreement_table(facts: dict[str, Any]) -> list[str]:
    lines = [
        "| tasks | real | forged | contenders | Spearman's correlation | 95 % interval |",
        "|---|---|---|---|---|---|",
    ]
    for group, about_group in facts["agreement"].items():
        value, interval = about_group["spearman"], about_group["interval"]
        numbers = (
            ["too few tasks", ""] if value is None else [f"{value:.2f}", f"{interval[0]:.2f} to {interval[1]:.2f}"]
        )
        counts = [str(about_group[name]) for name in ("real", "forged", "contenders")]
        lines.append(f"| {' | '.join([group, *counts, *numbers])} |")
    return lines


def contender_table(facts: dict[str, Any]) -> list[str]:
    """The contenders, the best on real tasks first."""
    lines = [
        "| contender | mean rank, real | mean rank, forged | invalid | not a table | ended by the clock |",
        "|---|---|---|---|---|---|",
    ]
    by_rank = sorted(facts["contenders"].items(), key=lambda item: (item[1]["real"] or item[1]["forged"])["mean_rank"])
    for name, values in by_rank:
        cells = [
            LABELS.get(name, name),
            mean_rank(values["real"]),
            mean_rank(values["forged"]),
            f"{values['invalid']:.0%}",
        ]
        lines.append(f"| {' | '.join([*cells, str(values['samples']), str(values['out_of_time'])])} |")
    return lines


def mean_rank(side: dict[str, Any] | None) -> str:
    if side is None:
        return "-"
    return f"{side['mean_rank']:.2f} ({side['interval'][0]:.2f} to {side['interval'][1]:.2f})"


if __name__ == "__main__":
    main()
