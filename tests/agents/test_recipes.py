"""The agent `recipes`: which scripts it writes, and in which order."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from podium.agents.base import Assignment, Remaining
from podium.agents.recipes_agent import Recipes, RecipesOptions, schedule
from podium.agents.search.policies import DRAFT, Choice
from podium.agents.search.proposers.proposer import Context, Proposal
from podium.agents.search.proposers.recipe_proposer import RecipesProposer, mergeable
from podium.agents.search.search_tree import Node, Operator, Tree
from podium.catalog.registry import load
from podium.metrics import accuracy
from podium.recipes.script_writer import read_header
from podium.workspace.journal.observations import ScriptResult


@pytest.fixture
def proposer(tmp_path: Path) -> RecipesProposer:
    """A proposer for a small table, with a minute left."""
    rows = "\n".join(f"{number},{number * 37 % 101},{number * 17 % 23},{number % 2}" for number in range(60))
    (tmp_path / "train.csv").write_text(f"row,a,b,y\n{rows}\n")
    (tmp_path / "test.csv").write_text("row,a,b\n100,3,4\n101,5,6\n")
    (tmp_path / "sample_submission.csv").write_text("row,y\n100,0\n101,0\n")
    return RecipesProposer(
        Context(
            brief="",
            public=tmp_path,
            metric=accuracy,
            sample="sample_submission.csv",
            ids=("row",),
            targets=("y",),
            whole_numbers=True,
            seed=0,
            cores=1,
            remaining=lambda: Remaining(time_s=60.0),
        )
    )


def propose(proposer: RecipesProposer, operator: Operator, tree: Tree, *parents: int) -> Proposal | None:
    return asyncio.run(proposer.propose(operator, [tree[number] for number in parents], tree))


def add(tree: Tree, proposal: Proposal | None, operator: Operator, *parents: int, **result: object) -> Node:
    """A node for a proposal that has run: good by default, with a metric that rises from script to script."""
    assert proposal is not None
    metric = 0.5 + 0.01 * len(tree)
    ran = ScriptResult.model_validate({"exit_code": 0, "metric": metric, "valid": True, **result})
    tree.nodes.append(
        Node(
            number=len(tree),
            operator=operator,
            parents=parents,
            plan=proposal.plan,
            script=proposal.script,
            result=ran,
            metric=metric if ran.valid else None,
            is_buggy=not ran.valid,
        )
    )
    return tree.nodes[-1]


def drafted(proposer: RecipesProposer, *names: str) -> Tree:
    """A tree in which recipes have been drafted, at least up to those named."""
    tree = Tree(higher_is_better=True)
    while not set(names) <= {recipe_of(node) for node in tree}:
        add(tree, propose(proposer, "draft", tree), "draft")
    return tree


def scheduled(proposer: RecipesProposer, tree: Tree, *, can_draft: bool, time_s: float = 60.0) -> Choice | None:
    return schedule(tree, can_draft=can_draft, can_debug=lambda node: proposer.can_debug(node, tree), time_s=time_s)


def improved(proposer: RecipesProposer) -> Tree:
    """A tree with two scripts to blend: the ensemble, number 3, and an improvement of it."""
    tree = drafted(proposer, "ensemble")
    add(tree, propose(proposer, "improve", tree, 3), "improve", 3)
    return tree


def recipe_of(node: Node | Proposal | None) -> str:
    assert node is not None
    header = read_header(node.script)
    assert header is not None
    return header.recipe


def test_every_recipe_is_drafted_once_and_fallbacks_come_first(proposer: RecipesProposer) -> None:
    tree = Tree(higher_is_better=True)
    while (proposal := propose(proposer, "draft", tree)) is not None:
        add(tree, proposal, "draft")
    names = [recipe_of(node) for node in tree]
    assert names == ["sample", "constant", "quick boosting", "ensemble"]
    assert len(set(names)) == len(names) and not proposer.can_draft(tree)


def test_improvements_are_tried_one_after_the_other(proposer: RecipesProposer) -> None:
    tree = drafted(proposer, "ensemble")
    best = tree.nodes[-1].number
    nodes = [add(tree, propose(proposer, "improve", tree, best), "improve", best) for _ in range(3)]
    assert len({node.plan for node in nodes}) == 3
    assert propose(proposer, "improve", tree, best) is None
    orders = {re.search(r"^fits = \{(.*?)^\}", node.script, re.DOTALL | re.MULTILINE)[1] for node in tree.nodes[best:]}
    assert len(orders) == 1, "members stay in their order"


def test_a_failed_script_is_made_simpler_or_given_whole_numbers(proposer: RecipesProposer) -> None:
    tree = drafted(proposer, "quick boosting")
    failed = add(tree, propose(proposer, "draft", tree), "draft", exit_code=1, valid=False)
    assert recipe_of(failed) == "ensemble"
    simpler = propose(proposer, "debug", tree, failed.number)
    assert simpler is not None and '"pairs": false' in simpler.script
    fractions = add(tree, simpler, "debug", failed.number, valid=False, error="y is 0.5")
    rounded = propose(proposer, "debug", tree, fractions.number)
    assert rounded is not None and "np.rint" in rounded.script


def test_scripts_that_saved_predictions_are_blended_once(proposer: RecipesProposer) -> None:
    tree = improved(proposer)
    every = [node.number for node in tree]
    blend = propose(proposer, "merge", tree, *every)
    assert recipe_of(blend) == "blend"
    assert blend is not None and "FOLDERS = ['../003', '../004']" in blend.script
    node = add(tree, blend, "merge", 3, 4)
    assert propose(proposer, "merge", tree, *every) is None
    assert recipe_of(propose(proposer, "improve", tree, node.number)) == "ensemble"
    assert propose(proposer, "merge", tree, 2, 3) is None, "a quick script is not blended"


def test_the_schedule_debugs_drafts_blends_and_improves(proposer: RecipesProposer) -> None:
    tree = improved(proposer)
    assert scheduled(proposer, tree, can_draft=True) == DRAFT
    assert scheduled(proposer, tree, can_draft=False) == Choice("merge", (4, 3))
    add(tree, propose(proposer, "improve", tree, 3), "improve", 3)
    assert scheduled(proposer, tree, can_draft=True) == Choice("merge", (5, 4, 3))
    add(tree, propose(proposer, "merge", tree, 5, 4, 3), "merge", 5, 4, 3)
    assert scheduled(proposer, tree, can_draft=False) == Choice("improve", (6,))
    add(tree, propose(proposer, "improve", tree, 3), "improve", 3, exit_code=1, valid=False)
    assert scheduled(proposer, tree, can_draft=True) == Choice("debug", (7,))


def failed(node: Node) -> None:
    """Makes a node one that left nothing."""
    node.result, node.metric, node.is_buggy = ScriptResult(exit_code=1, valid=False), None, True


def test_a_script_that_cannot_be_mended_keeps_no_other_from_being_mended(proposer: RecipesProposer) -> None:
    tree = drafted(proposer, "ensemble")
    failed(tree[2])
    failed(tree[3])
    assert [recipe_of(node) for node in tree.nodes[2:]] == ["quick boosting", "ensemble"]
    assert scheduled(proposer, tree, can_draft=False) == Choice("debug", (3,))


def test_a_script_that_cannot_be_mended_keeps_no_others_from_being_blended(proposer: RecipesProposer) -> None:
    tree = improved(proposer)
    failed(tree[2])
    assert scheduled(proposer, tree, can_draft=False) == Choice("merge", (4, 3))


def test_at_the_end_there_is_one_last_blend(proposer: RecipesProposer) -> None:
    tree = improved(proposer)
    assert scheduled(proposer, tree, can_draft=True, time_s=9.0) == Choice("merge", (4, 3))
    add(tree, propose(proposer, "merge", tree, 4, 3), "merge", 4, 3)
    assert scheduled(proposer, tree, can_draft=True, time_s=3.0) is None


def test_a_fallback_is_submitted_without_any_score_until_there_is_better() -> None:
    """No made-up number stands for a score that nobody knows."""
    nodes = [
        Node(
            number=number,
            operator="draft",
            plan="",
            script="",
            metric=metric,
            is_buggy=False,
            result=ScriptResult(exit_code=0, valid=True),
        )
        for number, metric in enumerate((None, None, 0.2, 0.1))
    ]
    for higher, order in ((True, [2, 3, 1, 0]), (False, [3, 2, 1, 0])):
        assert [node.number for node in Tree(nodes=nodes, higher_is_better=higher).good] == order


def test_scores_of_different_validations_are_never_compared(proposer: RecipesProposer) -> None:
    """A score on random rows looks better than one on later rows; neither is chosen or blended by that."""
    tree = improved(proposer)
    add(tree, propose(proposer, "improve", tree, 3), "improve", 3)
    for node, validation in zip(tree.nodes[3:], ("50 of 200 train rows", "", "50 of 200 train rows"), strict=True):
        node.validation = validation
    for node in tree.nodes[:3]:
        node.metric = None
    tree.nodes[4].metric = 0.99
    assert [node.number for node in tree.comparable] == [5, 3]
    assert tree.best == tree[5]
    assert [node.number for node in mergeable(tree)] == [5, 3]


def test_a_script_prints_its_validation_rows(proposer: RecipesProposer) -> None:
    node = drafted(proposer, "sample").nodes[0]
    output = "podium-validation: 20 of 80 train rows\npodium-metric: 0.5\n"
    review = asyncio.run(proposer.review(node, ScriptResult(exit_code=0, metric=0.5, valid=True, output=output)))
    assert review.validation == "20 of 80 train rows"


def test_a_script_takes_no_longer_than_it_may(tmp_path: Path, proposer: RecipesProposer) -> None:
    """A recipe would have more than the limit that somebody set."""
    assignment = Assignment(
        task=load("spaceship-titanic"),
        seed=0,
        instructions="",
        public=tmp_path,
        remaining=lambda: Remaining(time_s=600.0),
    )
    limits = []
    for options in (RecipesOptions(), RecipesOptions(script_time=7.0)):
        agent = Recipes(assignment, options)
        agent.proposer = proposer
        (action,) = asyncio.run(agent.decide(agent.begin()))
        limits.append(action.arguments["time_s"])
    assert limits[0] > 7.0 and limits[1] == 7.0
