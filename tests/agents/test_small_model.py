"""Every agent with a model, with its defaults, and a real model too weak for the job: clear ends, true counts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import driving
import pytest
from small_model import SmallModel, small_model

from podium import api
from podium.agents import AGENTS, agent_class
from podium.runs.records import Plan
from podium.workspace.budget import Budget

pytestmark = pytest.mark.model

TASKS = {
    "competition": "spaceship-titanic",
    "research": "mlab-spaceship-titanic",
    "forged": "forge-tabular-classification-medium-101",
}
BUDGET = Budget(steps=3, time_s=60)
agents = pytest.mark.parametrize("agent", [name for name in AGENTS if agent_class(name).needs_model])
kinds = pytest.mark.parametrize("kind", TASKS)


@pytest.fixture(scope="module")
def tasks_dir(data_dir: Path) -> Path:
    api.prepare(TASKS["research"], data_dir=data_dir, miniature=True)
    return data_dir


@pytest.fixture(scope="module")
def model_8k() -> Iterator[SmallModel]:
    with small_model(8_192) as model:
        yield model


@pytest.fixture(scope="module")
def model_2k() -> Iterator[SmallModel]:
    with small_model(2_048) as model:
        yield model


def _plan(agent: str, model: SmallModel, data_dir: Path) -> Plan:
    return Plan(
        agent=agent,
        model="openai-api/podium/smollm2",
        model_base_url=model.url,
        data_dir=data_dir,
        miniature=True,
        budget=BUDGET,
    )


@agents
@kinds
def test_a_run_ends_in_order_with_a_valid_submission(
    agent: str, kind: str, model_8k: SmallModel, tasks_dir: Path, tmp_path: Path
) -> None:
    before = model_8k.counted()
    row = driving.drive(tmp_path / "run", _plan(agent, model_8k, tasks_dir), TASKS[kind])
    served = model_8k.counted().since(before)
    record = row.record
    assert record is not None and record.error is None, record and record.error
    assert (record.status, record.valid) == ("finished", True)
    assert record.usage.output_tokens <= served.answers
    if record.ended_by in ("the agent", "steps"):  # otherwise its last request may have been cut off
        assert record.usage.output_tokens == served.answers
        assert record.usage.tokens == served.answers + served.prompts
    assert driving.verified(row.folder).passed


@agents
@kinds
def test_a_context_window_that_is_too_small_is_refused_with_a_helpful_message(
    agent: str, kind: str, model_2k: SmallModel, tasks_dir: Path, tmp_path: Path
) -> None:
    row = driving.drive(tmp_path / "run", _plan(agent, model_2k, tasks_dir), TASKS[kind])
    record = row.record
    assert record is not None and record.status == "failed"
    assert "holds 2,048 tokens" in str(record.error) and "-c 8192" in str(record.error)
    assert record.usage.tokens == 0 and record.valid and record.fallback
