"""The published package aideml, unmodified, as an agent: inside the sandbox, with the model Podium serves there.

Opt-in, because its environment takes gigabytes: `make test-aideml` makes one and runs this.
"""

from __future__ import annotations

import json
import os
import random
import re
from pathlib import Path

import pytest
from driving import drive, verified
from model_server import Call, Reply, Request, serving, text_of, tool_names
from talkers import MODEL, TASK, TRAIN

from podium.runs.records import Plan
from podium.runs.steps import Steps
from podium.workspace.budget import Budget

ENV = os.environ.get("PODIUM_AIDEML_ENV")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(ENV is None, reason="PODIUM_AIDEML_ENV names no environment with aideml: make test-aideml"),
]

# Any name of a model that is not OpenAI's own makes aideml ask the server that OPENAI_BASE_URL names. It keeps the best
# script, not its submission.
START = """
aide data_dir=/home/data desc_file=/home/data/description.md exp_name=podium generate_report=False \
    log_dir=/home/logs workspace_dir=/home/agent/workspaces agent.code.model=inspect agent.feedback.model=inspect \
    agent.steps=3 agent.search.num_drafts=1 agent.search.debug_prob=1 > /home/logs/screen.txt 2>&1 || exit 1
cd /home/agent/workspaces/0-podium && python /home/logs/0-podium/best_solution.py
cp working/submission.csv $SUBMISSION_DIR/submission.csv
"""
SCRIPT = TRAIN.replace('"data/', '"input/').replace('"submission/', '"working/')
BROKEN = SCRIPT.replace("train.pop(train.columns[-1])", 'train.pop("no column")')
BETTER = SCRIPT.replace("max_iter=200", "max_iter=220")


def scientist(request: Request, rng: random.Random) -> str | Reply:
    """Writes a script that fails, mends it, improves it, and reviews what they print."""
    asked = text_of(request)
    if tool_names(request):
        assert tool_names(request) == ["submit_review"]
        seen = re.search(r"^auc ([0-9.]+)$", asked, re.MULTILINE)
        review = {"is_bug": seen is None, "metric": float(seen[1]) if seen else None, "lower_is_better": False}
        return Reply(calls=(Call("submit_review", {"summary": "Gradient boosting.", **review}),))
    if "Previous (buggy) implementation" in asked:
        script = SCRIPT
    else:
        script = BETTER if "Previous solution" in asked else BROKEN
    return f"Gradient boosting on engineered columns.\n```python\n{script}\n```"


def test_aideml_drafts_debugs_and_improves(tmp_path: Path, data_dir: Path) -> None:
    files = tmp_path / "agent"
    files.mkdir()
    (files / "start.sh").write_text(START)
    with serving(scientist) as server:
        plan = Plan(
            agent="command",
            options={"command": "bash start.sh", "files": str(files)},
            model=MODEL,
            model_base_url=server.url,
            env=ENV,
            data_dir=data_dir,
            budget=Budget(wall_s=900),
        )
        row = drive(tmp_path / "run", plan, TASK)
    assert row.record is not None
    assert row.record.valid, Steps(row.folder).observation(1)
    assert row.record.medal is not None
    assert len(server.requests) == 6
    assert row.record.usage.tokens == server.tokens
    journal = json.loads((row.folder.workspace / "logs/0-podium/journal.json").read_text())
    assert [node["is_buggy"] for node in journal["nodes"]] == [True, False, False]
    assert verified(row.folder).passed
