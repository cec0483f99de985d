"""Agents with their defaults and a model whose window is small, as whole runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from coders import tiny, writing
from few import few
from model_server import Behaviour, serving, windowed
from talkers import coder, compete

from podium.runs.steps import Steps
from podium.workspace.budget import Budget

MODELS: dict[str, Behaviour] = {"react": coder(), "research": coder(), "aide": writing(tiny)}


@pytest.mark.parametrize("agent", few(MODELS, every=3))
def test_a_window_of_8k_works_with_defaults(agent: str, tmp_path: Path, data_dir: Path) -> None:
    with serving(windowed(MODELS[agent], 8_192, "vllm")) as server:
        row = compete(tmp_path / "run", server, data_dir, agent, Budget(steps=6))
    assert row.record is not None and row.record.valid
    notes = [note for step in Steps(row.folder).all for note in step.notes]
    assert server.faults == len(notes) == (agent != "research"), "what was learnt once is kept, and told"
    assert all("limited to its context window of 8,192 tokens" in note for note in notes)


def test_a_2k_context_window_ends_with_a_helpful_message(tmp_path: Path, data_dir: Path) -> None:
    with serving(windowed(coder(), 2_048)) as server:
        row = compete(tmp_path / "run", server, data_dir, "react", Budget(steps=6))
    assert row.record is not None and row.record.status == "failed"
    assert "window" in str(row.record.error) and "-c 8192" in str(row.record.error)
