"""Model prices: known or unknown, counted, and limits on cost."""

from __future__ import annotations

import json
from pathlib import Path

import driving
import pytest
from driving import verified
from model_server import Reply, serving
from talkers import MODEL, SOLUTION, TASK, coder

from podium.cli.follow_experiment import complain
from podium.errors import PodiumError, UsageError
from podium.models.prices import Price, bundled_prices, price_of, read_prices
from podium.runs.drive.driver import Driver
from podium.runs.drive.executors import make_executor
from podium.runs.experiment import open_experiment
from podium.runs.plan.start_experiment import make_plan
from podium.runs.records import Plan
from podium.workspace.budget import Budget

PRICE = Price(input=1_000.0, output=10_000.0)
CALL = (100 * PRICE.input + 20 * PRICE.output) / 1e6
"""Price of the scripted server's answers."""


def test_every_price_has_a_date_and_a_source() -> None:
    prices = bundled_prices()
    assert len(prices) >= 10
    assert all(price.checked and price.source.startswith("https://") for price in prices.values())


def test_a_snapshot_costs_what_its_model_costs_and_another_host_has_its_own_prices() -> None:
    assert price_of("openai/gpt-4o-2024-11-20", None, {}) == bundled_prices()["openai/gpt-4o"]
    assert price_of("openai/gpt-4o", "http://127.0.0.1:8000/v1", {}) is None
    assert price_of("openai/gpt-4o", "http://127.0.0.1:8000/v1", {"openai/gpt-4o": PRICE}) == PRICE
    assert price_of("openai/unheard-of", None, {}) is None


@pytest.mark.parametrize("text", ["[1]", "{", '{"m": {"input": -1, "output": 1}}', '{"m": {"in": 1, "output": 1}}'])
def test_invalid_price_lists_are_rejected(text: str, tmp_path: Path) -> None:
    path = tmp_path / "prices.json"
    path.write_text(text)
    with pytest.raises(UsageError, match=r"is not a price list.*A price list gives dollars per million tokens"):
        read_prices(path)


def test_a_limit_on_an_unknown_cost_is_rejected() -> None:
    with pytest.raises(UsageError, match=r"is unknown.*--prices FILE, or limit tokens with --tokens"):
        make_plan([TASK], agent="react", model=MODEL, budget=Budget(cost=1.0))
    plan = make_plan([TASK], agent="react", model=MODEL, budget=Budget(cost=1.0), prices={MODEL: PRICE})
    assert plan.prices == {MODEL: PRICE}


@pytest.mark.parametrize("agent", ["react", "research"])
def test_a_run_stops_at_its_cost_within_one_call(agent: str, tmp_path: Path, data_dir: Path) -> None:
    moves = [SOLUTION[0]] * 50
    with serving(coder(moves)) as server:
        plan = Plan(
            agent=agent,
            model=MODEL,
            model_base_url=server.url,
            prices={MODEL: PRICE},
            budget=Budget(cost=2.5 * CALL),
            data_dir=data_dir,
        )
        row = driving.drive(tmp_path / "run", plan, TASK)
    assert row.record is not None
    assert (row.record.status, row.record.ended_by) == ("finished", "cost")
    assert len(server.served) == 3
    assert row.record.usage.cost == pytest.approx(3 * CALL)
    assert verified(row.folder).passed


def test_an_unknown_cost_is_not_zero(tmp_path: Path, data_dir: Path) -> None:
    with serving(lambda request, rng: Reply("Nothing to say.")) as server:
        plan = Plan(agent="react", options={"attempts": "1"}, model=MODEL, model_base_url=server.url, data_dir=data_dir)
        row = driving.drive(tmp_path / "run", plan, TASK)
    assert row.record is not None and row.record.usage.tokens == 120
    assert row.record.usage.cost is None
    assert json.loads(row.folder.record.read_text())["usage"]["cost"] is None


def test_all_runs_together_stop_at_the_total(tmp_path: Path, data_dir: Path) -> None:
    with serving(coder([SOLUTION[0]] * 50)) as server:
        plan = Plan(agent="react", model=MODEL, model_base_url=server.url, data_dir=data_dir, total_tokens=500)
        driver = Driver(open_experiment(tmp_path / "run", plan, [TASK], 2))
        driver.run_all(make_executor(parallel=1))
    assert driver.used_up() == "the experiment's 500 tokens"
    assert all(run.record is None or run.record.status == "stopped" for run in driver.runs)
    with pytest.raises(PodiumError, match=r"podium resume \S+ --total-tokens N$"):
        complain(driver)
