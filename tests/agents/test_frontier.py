"""The parts of the agent `frontier`: its policy, what it tells the coder, and the weighted ensemble."""

from __future__ import annotations

from collections import Counter
from random import Random

import pandas as pd
import pytest
from trees import node, tree

from podium.agents.search.knowledge import APPROACHES, CUES, draft_advice
from podium.agents.search.lessons import ancestors, lessons
from podium.agents.search.options import FrontierOptions
from podium.agents.search.policies import DRAFT, Choice, branch_leaders, frontier, stagnation
from podium.catalog import load
from podium.runs.held_out_scoring import blended

OPTIONS = FrontierOptions(drafts=2, patience=2)


def test_drafts_come_first_and_what_breaks_is_debugged_at_once() -> None:
    broken = tree(node(0, "draft"))
    assert frontier(broken, OPTIONS, Random(0)) == Choice("debug", (0,))
    assert frontier(tree(node(0, "draft", metric=0.5)), OPTIONS, Random(0)) == DRAFT


def test_branches_are_united_when_nothing_gets_better_each_pair_once() -> None:
    drafts = [node(0, "draft", metric=0.8), node(1, "draft", metric=0.7)]
    stuck = [node(2, "improve", 0, metric=0.6), node(3, "improve", 0, metric=0.6)]
    assert stagnation(tree(*drafts, *stuck)) == 3
    assert frontier(tree(*drafts, *stuck), OPTIONS, Random(0)) == Choice("merge", (0, 1))
    merged = tree(*drafts, *stuck, node(4, "merge", 0, 1, metric=0.5))
    assert frontier(merged, OPTIONS, Random(0)) == Choice("merge", (0, 4))
    without = OPTIONS.model_copy(update={"fusion": False})
    chosen = frontier(tree(*drafts, *stuck), without, Random(0))
    assert chosen is not None and chosen.operator == "improve"


def test_a_branch_is_led_by_its_best_script() -> None:
    found = tree(node(0, "draft", metric=0.5), node(1, "draft", metric=0.6), node(2, "improve", 0, metric=0.7))
    assert [leader.number for leader in branch_leaders(found)] == [2, 1]


def test_lessons_name_what_helped_what_hurt_and_what_fails_again() -> None:
    found = tree(
        node(0, "draft", metric=0.5),
        node(1, "improve", 0, metric=0.7),
        node(2, "improve", 1, metric=0.6),
        node(3, "draft"),
        node(4, "draft"),
    )
    text = lessons(found)
    assert "Best so far, 0.7: plan 1" in text
    assert "Helped (+0.2): plan 1" in text and "Did not help (-0.1): plan 2" in text
    assert "Failed 2 times" in text
    assert ancestors(found, found[2]) == "- plan 1 (+0.2)\n- plan 2 (-0.1)"
    worse = tree(node(0, "draft", metric=0.5), node(1, "improve", 0, metric=0.7), higher_is_better=False)
    assert "Did not help (-0.2): plan 1" in lessons(worse)


def test_drafts_are_told_what_suits_the_data_and_how_elaborate_to_be() -> None:
    assert draft_advice("tabular", tree()) == f"{APPROACHES['tabular']}\n{CUES[0]}"
    assert draft_advice("unknown", tree(node(0, "draft", metric=0.5))) == CUES[1]


@pytest.mark.parametrize(("sign", "task"), [(1, "tabular-classification"), (-1, "tabular-regression")])
def test_an_ensemble_is_weighted_by_what_helps_on_the_rows_for_the_choice(sign: int, task: str) -> None:
    found = load(f"forge-{task}-medium-101")
    identity, target = found.form.ids[0], found.form.targets[0]
    values = {"good": [1.0, 2.0, 3.0, 9.0], "other": [3.0, 2.0, 1.0, 1.0], "useless": [9.0, 9.0, 9.0, 9.0]}
    tables = {name: pd.DataFrame({identity: list("abcd"), target: numbers}) for name, numbers in values.items()}
    ideal = pd.Series([2.0, 2.0, 2.0, 5.0])
    ideal = ideal.rank(pct=True) if sign > 0 else ideal

    def score(table: pd.DataFrame) -> float:
        return (
            -sign * float((pd.to_numeric(table[target]).rank(pct=True) - ideal).abs().sum())
            if sign > 0
            else float((pd.to_numeric(table[target]) - ideal).abs().sum())
        )

    blend, counts = blended(found, tables, score)
    assert "useless" not in counts and isinstance(counts, Counter)
    assert score(blend) <= score(tables["good"]) if sign < 0 else score(blend) >= score(tables["good"])


def test_nothing_to_blend_is_said() -> None:
    with pytest.raises(ValueError, match="no script has a score"):
        blended(load("forge-tabular-regression-medium-101"), {}, lambda table: None)
