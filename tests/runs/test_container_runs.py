"""Whole runs in containers: the same layout, validator and model endpoint as anywhere."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from driving import verified
from model_server import Request, serving

from podium.runs.steps import Steps

pytestmark = pytest.mark.docker

COMMAND = """
cp /home/data/sample_submission.csv /home/submission/submission.csv
/home/validate_submission.sh /home/submission/submission.csv
echo x >> /home/data/train.csv
grep -c 'There is no network' /home/instructions.txt
python - <<'END'
from openai import OpenAI
answer = OpenAI().chat.completions.create(model="x", messages=[{"role": "user", "content": "How many?"}])
print("the model says", answer.choices[0].message.content)
END
"""


def answer(request: Request, rng: random.Random) -> str:
    return "forty-two"


def test_a_run_in_a_container(play: Any, tmp_path: Path) -> None:
    with serving(answer) as server:
        row = play(
            agent="command",
            command=COMMAND,
            model="openai-api/podium/scripted",
            model_base_url=server.url,
            sandbox="docker",
        )
    seen = Steps(row.folder).observation(1).text
    assert "Submission is valid." in seen
    assert "cannot create /home/data/train.csv" in seen
    assert "the model says forty-two" in seen
    assert (row.record.valid, row.record.validations, row.record.backend) == (True, 1, "docker")
    policy = row.folder.read_record().sandbox
    assert (policy.backend, policy.network, policy.sealed, policy.seccomp) == ("docker", "none", True, True)
    assert verified(row.folder).passed
