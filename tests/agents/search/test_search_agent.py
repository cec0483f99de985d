"""The search agent without a sandbox: what it decides when scripts come back as the test says."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import anyio
import pandas as pd
import pytest

from podium.agents.base import Assignment, Remaining
from podium.agents.search.final_selection import blend_script
from podium.agents.search.policies import Choice, greedy
from podium.agents.search.proposers.proposer import Context, Proposal, Proposer, Review
from podium.agents.search.search_agent import SearchAgent, SearchState
from podium.agents.search.search_options import GreedyOptions
from podium.agents.search.search_tree import Node, Operator, Tree
from podium.catalog.registry import load
from podium.metrics import accuracy, rmse, roc_auc
from podium.models.token_limits import ModelUnreachableError
from podium.task import Columns, Metric, Number, Task, Values
from podium.workspace.journal.events import Action
from podium.workspace.journal.observations import Interruption, Observation, ScriptResult, SubmissionResult


class Author:
    """A proposer that writes numbered scripts for as long as it has ideas."""

    def __init__(self, ideas: int) -> None:
        self._ideas = ideas
        self.asked: list[tuple[Operator, list[int]]] = []

    async def propose(self, operator: Operator, parents: Sequence[Node], tree: Tree) -> Proposal | None:
        self.asked.append((operator, [node.number for node in parents]))
        return Proposal(f"plan {len(tree)}", f"# {len(tree)}") if len(tree) < self._ideas else None

    async def review(self, node: Node, result: ScriptResult) -> Review:
        return Review(is_buggy=result.exit_code != 0, metric=result.metric, summary="seen")


class Searcher(SearchAgent):
    """Greedy, with the author's scripts."""

    Options = GreedyOptions
    options: GreedyOptions
    author: Author

    def choose(self, tree: Tree, rng: Random) -> Choice | None:
        return greedy(tree, self.options, rng)

    def make_proposer(self, context: Context) -> Proposer:
        return self.author


def make(
    ideas: int = 99, remaining: Callable[[], Remaining] = Remaining, cls: type[Searcher] = Searcher, **options: Any
) -> Searcher:
    task = load("spaceship-titanic")
    agent = cls(
        Assignment(task=task, seed=1, instructions="", public=Path("/nowhere"), remaining=remaining),
        GreedyOptions(**{"drafts": 2, "debug_probability": 0.0, **options}),
    )
    agent.author = Author(ideas)
    return agent


def decide(agent: Searcher, state: SearchState) -> Sequence[Action]:
    return anyio.run(agent.decide, state)


def came_back(metric: float | None, *, valid: bool = True, seconds: float = 1.0, exit_code: int = 0) -> ScriptResult:
    return ScriptResult(exit_code=exit_code, metric=metric, valid=valid, seconds=seconds, output="x" * 50_000)


def play(
    agent: Searcher, outcome: Callable[[Action], Observation], limit: int = 60
) -> tuple[SearchState, list[Action]]:
    """Plays until the agent is done; the state is written down and read back at every step, as a run does it."""
    state, done = agent.begin(), []
    for _ in range(limit):
        actions = decide(agent, state)
        saved = state.model_dump_json()
        if not actions:
            return state, done
        observations = [outcome(action) for action in actions]
        state = agent.observe(SearchState.model_validate_json(saved), actions, observations)
        assert state == agent.observe(SearchState.model_validate_json(saved), actions, observations)
        done += actions
    raise AssertionError("the agent never ends")


def scores(*metrics: float | None, fresh: Callable[[int, int], float | None] = lambda number, split: None) -> Any:
    """Scripts come back with these metrics, in the order of their numbers."""

    def outcome(action: Action) -> Observation:
        if action.name == "submit_script":
            return SubmissionResult(script=action.arguments["number"], accepted=True)
        number, split = action.arguments["number"], action.arguments["split"]
        if split:
            return came_back(fresh(number, split))
        if number >= len(metrics):
            return came_back(None)
        return came_back(metrics[number], valid=metrics[number] is not None, exit_code=int(metrics[number] is None))

    return outcome


def submitted(actions: Sequence[Action]) -> list[int]:
    return [action.arguments["number"] for action in actions if action.name == "submit_script"]


class Unreachable(Author):
    """Writes no further script because its model cannot be reached."""

    async def propose(self, operator: Operator, parents: Sequence[Node], tree: Tree) -> Proposal | None:
        if len(tree) >= self._ideas:
            raise ModelUnreachableError("The model is gone.")
        return await super().propose(operator, parents, tree)


def test_scripts_that_were_written_are_tried_before_a_model_that_went_away_ends_the_run() -> None:
    agent = make(parallel=4, drafts=9)
    agent.author = Unreachable(3)
    state = agent.begin()
    actions = decide(agent, state)
    assert [action.arguments["number"] for action in actions] == [0, 1, 2]
    state = agent.observe(state, actions, [came_back(None, valid=False, exit_code=1)] * 3)
    with pytest.raises(ModelUnreachableError, match="gone"):
        decide(agent, state)


def test_the_best_so_far_is_submitted_as_soon_as_it_is_known() -> None:
    agent = make(ideas=6)
    state, actions = play(agent, scores(0.5, None, 0.7, 0.6, 0.7, 0.8))
    assert submitted(actions) == [0, 2, 5]
    names = [action.name.partition("_")[0] for action in actions]
    assert names == ["try", "submit", "try", "try", "submit", "try", "try", "try", "submit"]
    assert agent.headline(state) == "Accuracy 0.8 (6 scripts)"


def test_observing_changes_nothing_and_outputs_are_bounded() -> None:
    agent = make()
    state = agent.begin()
    actions = decide(agent, state)
    before = state.model_dump_json()
    after = agent.observe(state, actions, [came_back(0.5)])
    assert state.model_dump_json() == before
    assert after.tree[0].result is not None
    assert len(after.tree[0].result.output) <= 4_000
    assert after.unreviewed == [0]


def test_no_review_can_make_an_invalid_submission_good() -> None:
    agent = make(ideas=2)
    state, actions = play(agent, lambda action: came_back(0.9, valid=False))
    assert submitted(actions) == []
    assert [node.is_buggy for node in state.tree] == [True, True]


def test_a_valid_submission_without_a_score_is_better_than_none() -> None:
    def outcome(action: Action) -> Observation:
        if action.name == "submit_script" or action.arguments["number"] == 2:
            return scores(None, None, 0.5)(action)
        return came_back(None, valid=True)

    state, actions = play(make(ideas=3), outcome)
    assert submitted(actions) == [0, 2]
    assert [node.is_good for node in state.tree] == [False, False, True]


def test_halves_of_characters_do_not_get_into_the_state() -> None:
    class Odd(Author):
        async def propose(self, operator: Operator, parents: Sequence[Node], tree: Tree) -> Proposal | None:
            return Proposal("plan \ud800", "print('\udfff')")

    agent = make(nodes=1)
    agent.author = Odd(1)
    state, _ = play(agent, scores(0.5))
    assert (state.tree[0].plan, state.tree[0].script) == ("plan ?", "print('?')")


def test_a_script_that_was_ended_is_a_failure_with_a_reason() -> None:
    agent = make(ideas=1)
    state, _ = play(agent, lambda action: Interruption(cause="working time"))
    assert state.tree[0].result is not None
    assert "working time" in str(state.tree[0].result.stopped)


def test_several_scripts_run_side_by_side() -> None:
    agent = make(ideas=5, parallel=2)
    state = agent.begin()
    first = decide(agent, state)
    assert [action.arguments["number"] for action in first] == [0, 1]
    state = agent.observe(state, first, [came_back(0.5), came_back(0.6)])
    assert submitted(decide(agent, state)) == [1]


def test_another_operator_is_tried_where_the_author_has_no_idea() -> None:
    class NoImprovements(Author):
        async def propose(self, operator: Operator, parents: Sequence[Node], tree: Tree) -> Proposal | None:
            found = await super().propose(operator, parents, tree)
            return found if operator == "draft" else None

    agent = make()
    agent.author = NoImprovements(4)
    state, _ = play(agent, scores(0.5, 0.6, 0.7, 0.8))
    assert [node.operator for node in state.tree] == ["draft"] * 4
    assert ("improve", [1]) in agent.author.asked


def test_a_submission_that_has_vanished_makes_way_for_the_next() -> None:
    def outcome(action: Action) -> Observation:
        if action.name == "submit_script" and action.arguments["number"] == 1:
            return SubmissionResult(script=1, accepted=False, reason="code/001/submission.csv does not exist.")
        return scores(0.5, 0.9)(action)

    state, actions = play(make(ideas=2), outcome)
    assert submitted(actions) == [0, 1]
    assert state.tree.best is not None and state.tree.best.number == 0
    assert state.submitted == 0


def test_the_last_step_is_kept_for_the_submission() -> None:
    left = [5]

    def outcome(action: Action) -> Observation:
        left[0] -= 1
        return scores(0.5, 0.6, 0.7, 0.8)(action)

    _, actions = play(make(remaining=lambda: Remaining(steps=left[0])), outcome)
    assert submitted(actions) == [0, 1]
    assert left == [1]  # of no use: what is tried could not be submitted any more


@pytest.mark.parametrize(
    ("left_s", "options", "limit_s"),
    [
        (None, {}, None),
        (4000.0, {}, 1000.0),
        (100.0, {}, 60.0),
        (20.0, {}, 18.0),
        (4000.0, {"script_time": 300}, 300.0),
        (100.0, {"script_time": 300}, 98.0),
    ],
)
def test_a_script_may_take_its_share_of_the_time(
    left_s: float | None, options: dict[str, Any], limit_s: float | None
) -> None:
    agent = make(remaining=lambda: Remaining(time_s=left_s), **options)
    assert decide(agent, agent.begin())[0].arguments["time_s"] == limit_s


def test_no_script_is_started_when_time_is_nearly_up() -> None:
    agent = make(remaining=lambda: Remaining(time_s=2.0))
    assert decide(agent, agent.begin()) == []


def test_a_search_ends_at_the_maximum_number_of_scripts() -> None:
    state, _ = play(make(nodes=3), scores(0.1, 0.2, 0.3))
    assert len(state.tree) == 3


def test_fresh_splits_decide() -> None:
    fresh = {(2, 1): 0.5, (2, 2): 0.5, (1, 1): 0.7, (1, 2): 0.6, (0, 1): 0.9, (0, 2): None}
    agent = make(ideas=4, select="revalidate", top=3)
    state, actions = play(agent, scores(0.7, 0.8, 0.9, 0.1, fresh=lambda number, split: fresh[number, split]))
    assert submitted(actions) == [0, 1, 2, 1]  # 0 is out: it does not run on every split
    assert [(each.number, each.split) for each in state.rescores] == [(2, 1), (1, 1), (0, 1), (2, 2), (1, 2), (0, 2)]


def test_time_for_scoring_again_is_kept() -> None:
    left = [100.0]

    def outcome(action: Action) -> Observation:
        left[0] -= 0.1 if action.name == "submit_script" else 10.0
        if action.name == "submit_script":
            return SubmissionResult(script=action.arguments["number"], accepted=True)
        return came_back(0.5 + action.arguments["number"] / 100, seconds=10.0)

    agent = make(select="revalidate", top=2, splits=2, remaining=lambda: Remaining(time_s=left[0]))
    state, _ = play(agent, outcome)
    assert len(state.rescores) == 4
    assert state.submitted is not None
    assert left[0] > 0


def test_a_blend_is_submitted_if_its_form_is_right() -> None:
    for valid in (True, False):
        agent = make(ideas=3, select="ensemble", top=2)

        def outcome(action: Action, valid: bool = valid) -> Observation:
            if action.arguments["number"] == 3 and action.name == "try_script":
                return came_back(None, valid=valid)
            return scores(0.5, 0.6, 0.7)(action)

        _, actions = play(agent, outcome)
        script = next(a for a in actions if a.arguments["number"] == 3 and a.name == "try_script").arguments["script"]
        assert "['002', '001']" in script
        assert submitted(actions) == ([0, 1, 2, 3] if valid else [0, 1, 2])


def test_one_success_needs_no_selection() -> None:
    for select in ("revalidate", "ensemble"):
        _, actions = play(make(ideas=2, select=select), scores(0.5, None))
        assert submitted(actions) == [0]


def blend(folder: Path, metric: Metric, values: type | Values, *columns: list[Any]) -> list[Any]:
    """What a blend of submissions with these columns predicts."""
    form = Columns(id="id", target="y", values=values)
    task = Task(id="toy", title="Toy", kind="toy", metric=metric, submission=form)
    for number, column in enumerate(columns):
        table = pd.DataFrame({"id": [f"{row:02d}" for row in range(len(column))], "y": column})
        (folder / f"{number:03d}").mkdir()
        table.sample(frac=1, random_state=number).to_csv(folder / f"{number:03d}" / "submission.csv", index=False)
    (folder / "own").mkdir()
    (folder / "own" / "script.py").write_text(blend_script(task, range(len(columns))))
    subprocess.run([sys.executable, "script.py"], cwd=folder / "own", check=True, stdout=subprocess.DEVNULL)
    found = pd.read_csv(folder / "own" / "submission.csv", dtype={"id": str}).sort_values("id")
    return list(found["y"])


def test_numbers_are_averaged(tmp_path: Path) -> None:
    assert blend(tmp_path, rmse, float, [1.0, 2.0, 3.0], [2.0, 4.0, 3.0]) == [1.5, 3.0, 3.0]


def test_ranks_are_averaged_where_only_order_counts(tmp_path: Path) -> None:
    found = blend(tmp_path, roc_auc, Number(0, 1), [0.1, 0.2, 0.9, 0.3], [0.5, 0.7, 0.6, 0.99])
    assert found == [0.25, 0.625, 0.75, 0.875]


def test_labels_are_voted_on_and_the_best_script_breaks_ties(tmp_path: Path) -> None:
    assert blend(tmp_path, accuracy, str, ["a", "b", "c"], ["a", "c", "b"], ["b", "c", "a"]) == ["a", "c", "c"]


def test_whole_numbers_stay_whole(tmp_path: Path) -> None:
    assert blend(tmp_path, accuracy, int, [1, 1, 5], [1, 2, 1], [3, 3, 2]) == [1, 2, 2]


def test_a_saved_state_is_small_and_plain() -> None:
    state, _ = play(make(ideas=3), scores(0.5, 0.6, 0.7))
    text = state.model_dump_json()
    assert len(text) < 20_000
    json.loads(text)


class Sampling(Searcher):
    """Tries every second script on a sample first."""

    def sampled_script(self, node: Node, tree: Tree) -> str | None:
        return f"{node.script} on a sample" if node.number % 2 else None


@pytest.mark.parametrize("works", [True, False])
def test_a_script_runs_in_full_only_if_it_works_on_a_sample(works: bool) -> None:
    agent = make(ideas=3, cls=Sampling, drafts=3)
    on_sample = came_back(0.5 if works else None, valid=works, exit_code=int(not works))

    def outcome(action: Action) -> Observation:
        is_sample = str(action.arguments.get("script")).endswith("on a sample")
        return on_sample if is_sample else scores(0.1, 0.2, 0.3)(action)

    state, done = play(agent, outcome)
    tried = [action.arguments["script"] for action in done if action.name == "try_script"]
    assert tried == ["# 0", "# 1 on a sample", *(["# 1"] if works else []), "# 2"]
    assert [node.metric for node in state.tree] == [0.1, 0.2 if works else None, 0.3]
