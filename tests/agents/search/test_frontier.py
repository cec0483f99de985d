"""The parts of the agent `frontier`: its policy, what it tells the coder, and the weighted ensemble."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from random import Random

import coders
import pandas as pd
import pytest
from model_server import serving
from talkers import TASK, assignment, compete
from trees import node, tree

from podium.agents.search.algorithms import Frontier
from podium.agents.search.policies import DRAFT, Choice, branch_leaders, frontier, stagnation
from podium.agents.search.proposers.lessons import ancestors, distill, lessons, relevant_lessons
from podium.agents.search.proposers.prior_knowledge import CUES, draft_cue, leak_warnings
from podium.agents.search.script_guards import FOLD_LINE, SAMPLE_ROWS, with_early_stopping, with_sample
from podium.agents.search.search_options import FrontierOptions
from podium.agents.search.search_tree import BEHIND, Tree
from podium.catalog.registry import load
from podium.runs.attempt.cross_task_memory import states_on_other_tasks
from podium.runs.experiment import run_folder
from podium.scoring.held_out_scores import blended
from podium.workspace.budget import Budget
from podium.workspace.journal.observations import ScriptResult

OPTIONS = FrontierOptions(drafts=2, patience=2)


def test_drafts_come_first_and_broken_scripts_are_debugged_immediately() -> None:
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


def test_lessons_list_gains_losses_and_repeated_errors() -> None:
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


def test_draft_cues_alternate() -> None:
    assert draft_cue(tree()) == CUES[0]
    assert draft_cue(tree(node(0, "draft", metric=0.5))) == CUES[1]


@pytest.mark.parametrize(("sign", "task"), [(1, "tabular-classification"), (-1, "tabular-regression")])
def test_an_ensemble_is_weighted_on_the_selection_rows(sign: int, task: str) -> None:
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


def test_an_empty_ensemble_is_an_error() -> None:
    with pytest.raises(ValueError, match="no script has a score"):
        blended(load("forge-tabular-regression-medium-101"), {}, lambda table: None)


@pytest.mark.slow
def test_with_a_model_it_reads_every_output_and_other_tasks_may_know_its_state(tmp_path: Path, data_dir: Path) -> None:
    options = {"drafts": 1, "patience": 1, "fusion": False, "evaluation": "reported", "select": "best"}
    worse = coders.TINY.format(score=0.1)
    behaviour = coders.writing(lambda ask: worse if coders.job_of(ask) == "improve" else coders.tiny(ask))
    with serving(behaviour) as server:
        row = compete(tmp_path / "run", server, data_dir, "frontier", Budget(steps=12), **options)
    assert row.record is not None and row.record.valid and not row.record.fallback
    scripts = [request for request in server.requests if not coders.is_review(request)]
    assert [coders.job_of(request) for request in scripts[:2]] == ["draft", "improve"]
    assert len(server.requests) == 2 * len(scripts), "every output is read"
    other = run_folder(tmp_path / "run", "another-task", 0)
    [(kind, state)] = states_on_other_tasks(other, "another-task", "frontier")
    assert kind == load(TASK).kind and '"operator":"improve"' in state
    assert not list(states_on_other_tasks(other, TASK, "frontier")), "seeds of one task know nothing of each other"
    run_folder(tmp_path / "run", TASK, 0).record.write_text("{}")
    assert not list(states_on_other_tasks(other, "another-task", "frontier")), "a damaged run teaches nothing"


ADVICE = {
    "knowledge": "Gradient boosting (LightGBM",
    "cues": CUES[2],
    "lessons": "Helped (+0.2)",
    "leak_check": "Before you write, check for leaks",
    "early_stop": FOLD_LINE,
    "shared_lessons": "plan 1",
}


@pytest.mark.parametrize("name", ADVICE)
def test_parts_of_the_advice_can_be_disabled(name: str, data_dir: Path) -> None:
    found = tree(node(0, "draft", metric=0.5), node(1, "improve", 0, metric=0.7), node(2, "draft", metric=0.6))

    def told(value: bool) -> str:
        agent = Frontier(assignment(data_dir), Frontier.Options.model_validate({name: value}))
        agent.proposer  # noqa: B018 (cached on first use)
        agent._experience = [distill(found, agent.assignment.task.kind)]
        text = agent._advise("draft", [], found)
        return text.partition("Lessons from other tasks:")[2] if name == "shared_lessons" else text

    assert ADVICE[name] in told(True) and ADVICE[name] not in told(False)


def test_lessons_of_other_tasks_are_recalled_by_kind_and_by_error() -> None:
    found = tree(node(0, "draft"), node(1, "debug", 0, metric=0.5), node(2, "improve", 1, metric=0.6))
    found[0].result = ScriptResult(exit_code=1, output="Traceback\nKeyError: 'a'")
    known = [distill(found, "tabular classification")]
    assert "0.6" not in known[0].model_dump_json(), "there are no scores in them"
    failed = node(0, "draft")
    failed.result = ScriptResult(exit_code=1, output="KeyError: 'another'")
    assert relevant_lessons(known, "image classification", failed) == "- plan 1"
    assert relevant_lessons(known, "tabular classification", None) == "- plan 2"
    assert relevant_lessons(known, "image classification", None) == ""


def test_scores_that_hidden_rows_do_not_confirm_and_unused_files_are_pointed_out(tmp_path: Path) -> None:
    for name in ("train.csv", "test.csv", "stores.csv", "sample_submission.csv"):
        (tmp_path / name).touch()
    task, doubtful = load(TASK), node(0, "draft", metric=0.7)
    doubtful.script = "read('train.csv', 'test.csv')"
    doubtful.result = ScriptResult(exit_code=0, valid=True, metric=0.99, search_score=0.7)
    told = leak_warnings(doubtful, tmp_path, task)
    assert "It printed 0.99, but its score on rows with hidden labels is 0.7" in told
    assert "It does not use these data files: stores.csv." in told
    doubtful.script += "stores.csv"
    doubtful.result = ScriptResult(exit_code=0, valid=True, metric=0.72, search_score=0.7)
    assert leak_warnings(doubtful, tmp_path, task) == ""


SCRIPT = '''"""A script."""
from __future__ import annotations
import os
print("rows", sum(1 for line in open(os.environ["PODIUM_DATA"] + "/train.csv")) - 1)
print("files", sorted(os.listdir(os.environ["PODIUM_DATA"])))
for fold in (1, 2, 3):
    print("podium-fold:", fold, 0.5)
print("the end")
'''


def run(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs a script in a folder, on the data in it."""
    environment = {**os.environ, "PODIUM_DATA": str(folder / "data")}
    return subprocess.run([sys.executable, "-c", script], cwd=folder, env=environment, capture_output=True, text=True)


def test_a_repair_is_tried_on_a_sample_of_the_training_rows(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "test.csv").write_text("id\n1\n")
    (tmp_path / "data" / "train.csv").write_text("id\n" + "".join(f"{n}\n" for n in range(6 * SAMPLE_ROWS)))
    done = run(with_sample(SCRIPT, "train.csv"), tmp_path)
    assert done.stdout.startswith(f"rows {SAMPLE_ROWS}\nfiles ['test.csv', 'train.csv']\n"), done.stderr
    assert with_sample("print(", "train.csv") == "print(", "what is not Python fails by itself"


def test_a_script_that_falls_behind_at_the_same_point_is_ended(tmp_path: Path) -> None:
    def told(*scores: float) -> Tree:
        nodes = [node(number, "draft", metric=score) for number, score in enumerate(scores)]
        for each, score in zip(nodes, scores, strict=True):
            assert each.result is not None
            each.result = each.result.model_copy(update={"output": f"{FOLD_LINE} 2 {score}"})
        return tree(*nodes)

    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "train.csv").touch()
    assert with_early_stopping(SCRIPT, told(0.9, 0.9)) == SCRIPT, "two are too few to say so"
    ended = run(with_early_stopping(SCRIPT, told(0.9, 0.8, 0.7)), tmp_path)
    assert "podium-fold: 2 0.5" in ended.stdout and "the end" not in ended.stdout
    assert ended.returncode == 1 and ended.stderr == f"{BEHIND} 0.5 at stage 2, where the best scripts had 0.7\n"
    assert "the end" in run(with_early_stopping(SCRIPT, told(0.9, 0.8, 0.4)), tmp_path).stdout
    assert with_early_stopping(SCRIPT, told(0.9, 0.8, math.nan)) == SCRIPT, "what is not a number is no mark"
    behind = node(0, "draft")
    behind.result = ScriptResult(exit_code=1, output=ended.stderr)
    assert frontier(tree(behind), OPTIONS, Random(0)) == DRAFT, "there is nothing to debug"
