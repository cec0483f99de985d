"""Final selection: re-scoring on fresh splits or blending, because repeatedly optimised scores are too optimistic."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Literal

from pydantic import BaseModel, ConfigDict

from podium.agents.search.search_tree import Tree
from podium.task import Integer, Number, Task

RANKING_METRICS = frozenset({"roc_auc", "weighted_auc", "bias_auc", "spearman"})
"""Metrics that depend only on the order of predictions."""

Blending = Literal["mean", "rank", "middle", "vote"]


class Rescore(BaseModel):
    """Score of a script on a fresh validation split."""

    model_config = ConfigDict(frozen=True)

    number: int
    split: int
    metric: float | None


def rescored_best(tree: Tree, finalists: Sequence[int], rescores: Sequence[Rescore]) -> int | None:
    """Return the finalist with the best mean score on fresh splits, or None if none has a score there.

    The score that made a script a finalist is ignored, because it was selected for being high.
    """
    means: dict[int, float] = {}
    for number in finalists:
        found = [rescore for rescore in rescores if rescore.number == number]
        scores = [rescore.metric for rescore in found if rescore.metric is not None]
        if tree[number].is_good and scores and len(scores) == len(found):
            means[number] = fmean(scores)
    if not means:
        return None
    return (max if tree.higher_is_better else min)(means, key=lambda number: means[number])


def selected_best(tree: Tree, finalists: Sequence[int]) -> int | None:
    """Return the finalist with the best score on the selection rows, which the search never used."""
    scores = {
        number: result.selection_score
        for number in finalists
        if tree[number].is_good and (result := tree[number].result) is not None and result.selection_score is not None
    }
    return max(scores, key=lambda number: scores[number] * tree.sign) if scores else None


def blending(task: Task, column: str) -> Blending:
    """Return the method that combines the values of a column of several submissions."""
    rule = task.form.rule(column)
    if isinstance(rule, Number):
        in_unit = (rule.low is None or rule.low <= 0) and (rule.high is None or rule.high >= 1)
        return "rank" if task.metric.name in RANKING_METRICS and in_unit else "mean"
    return "middle" if isinstance(rule, Integer) else "vote"


def blend_script(task: Task, numbers: Sequence[int]) -> str:
    """Return a script that blends the submissions in the sibling folders of other scripts."""
    form = task.form
    return _BLEND.format(
        folders=[f"{number:03d}" for number in numbers],
        ids=list(form.ids),
        targets={column: blending(task, column) for column in form.targets},
    )


_BLEND = '''"""Blends the submissions of the best scripts, the best one first."""

from collections import Counter
from statistics import median_low

import pandas as pd

FOLDERS = {folders}
IDS = {ids}
TARGETS = {targets}


def vote(values):
    """Return the most common value, the first one if several are equally common."""
    return Counter(values).most_common(1)[0][0]


def middle(values):
    """Return the majority value, or the median if there is none."""
    value, votes = Counter(values).most_common(1)[0]
    return value if 2 * votes > len(values) else str(median_low(int(float(value)) for value in values))


def combine(columns, way):
    if way in ("mean", "rank"):
        numbers = columns.apply(pd.to_numeric)
        return (numbers.rank(pct=True) if way == "rank" else numbers).mean(axis=1)
    return columns.apply(lambda row: (vote if way == "vote" else middle)(list(row)), axis=1)


tables = [pd.read_csv(f"../{{folder}}/submission.csv", dtype=str, keep_default_na=False) for folder in FOLDERS]
tables = [table.set_index(IDS) for table in tables]
first = tables[0]
if any(not table.index.is_unique or len(table) != len(first) for table in tables):
    raise SystemExit("The submissions do not have the same rows.")
blend = first.copy()
for column, way in TARGETS.items():
    columns = pd.concat([table[column].reindex(first.index) for table in tables], axis=1, keys=FOLDERS)
    blend[column] = combine(columns, way)
blend.reset_index().to_csv("submission.csv", index=False)
print("blended", ", ".join(FOLDERS), "by", TARGETS)
'''
