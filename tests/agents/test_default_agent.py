"""Agents and tasks are matched before anything starts."""

from __future__ import annotations

import pytest

from podium.agents import agent_names
from podium.agents.default_agent import check_fit, choose_agent, misfit
from podium.catalog import load
from podium.errors import UsageError
from podium.runs.plan.start_experiment import make_plan

TABLE, FILES = "spaceship-titanic", "vectorization"


@pytest.mark.parametrize("agent", ["recipes", "aide", "mcts", "evolve"])
def test_agents_that_write_tables_are_refused_on_tasks_that_ask_for_files(agent: str) -> None:
    check_fit(agent, [load(TABLE)])
    with pytest.raises(UsageError, match=f"'{agent}' cannot work on vectorization.*Agents that can: .*baseline"):
        check_fit(agent, [load(TABLE), load(FILES)])


@pytest.mark.parametrize("tasks", [[TABLE], [FILES], [FILES, "house-price"], ["forge-graph-easy-1"]])
def test_the_agent_that_is_chosen_fits_and_needs_no_model(tasks: list[str]) -> None:
    plan = make_plan(tasks)
    assert plan.agent in agent_names()
    assert not any(misfit(plan.agent, load(task)) for task in tasks)


def test_where_no_default_fits_all_tasks_somebody_has_to_choose() -> None:
    with pytest.raises(
        UsageError, match=r"No agent suits all of these tasks \(recipes for spaceship-titanic, edits for"
    ):
        make_plan([TABLE, FILES])


def test_tables_are_done_by_recipes_unless_somebody_says_otherwise() -> None:
    assert choose_agent([load(TABLE)]) == "recipes"
    assert make_plan([TABLE], agent="baseline").agent == "baseline"
