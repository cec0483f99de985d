"""Agents and tasks are matched before anything starts."""

from __future__ import annotations

import pytest

from podium.agents import agent_names
from podium.agents.default_agent import check_fit, choose_agent, mismatch_reason
from podium.catalog.registry import load
from podium.errors import UsageError
from podium.runs.plan.start_experiment import make_plan

TABLE, FILES = "spaceship-titanic", "vectorization"


@pytest.mark.parametrize("agent", ["recipes", "aide", "mcts", "evolve"])
def test_agents_that_write_tables_are_refused_on_tasks_that_ask_for_files(agent: str) -> None:
    check_fit(agent, [load(TABLE)])
    with pytest.raises(UsageError, match=f"'{agent}' cannot work on vectorization.*Suitable agents: .*baseline"):
        check_fit(agent, [load(TABLE), load(FILES)])


@pytest.mark.parametrize("tasks", [[TABLE], [FILES], [FILES, "house-price"], ["forge-graph-easy-1"]])
def test_the_agent_that_is_chosen_fits_and_needs_no_model(tasks: list[str]) -> None:
    plan = make_plan(tasks)
    assert plan.agent in agent_names()
    assert not any(mismatch_reason(plan.agent, load(task)) for task in tasks)


def test_an_agent_must_be_chosen_if_no_default_suits_all_tasks() -> None:
    with pytest.raises(
        UsageError, match=r"No default agent suits all of these tasks \(recipes for spaceship-titanic, edits for"
    ):
        make_plan([TABLE, FILES])


def test_the_default_agent_of_tables_is_recipes() -> None:
    assert choose_agent([load(TABLE)]) == "recipes"
    assert make_plan([TABLE], agent="baseline").agent == "baseline"
