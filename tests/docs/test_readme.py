"""The README's commands for research tasks, run offline and without a model."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.docs
README = Path(__file__).parents[2] / "README.md"
PROJECT = '''"""The share of points whose colour their nearest neighbours tell."""

k = 60
points = [((n * 37 % 101) / 101, (n * 61 % 89) / 89) for n in range(120)]
colours = [int((x > 0.5) != (y > 0.5)) for x, y in points]


def nearest(n: int) -> list[int]:
    x, y = points[n]
    others = (m for m in range(len(points)) if m != n)
    return sorted(others, key=lambda m: (points[m][0] - x) ** 2 + (points[m][1] - y) ** 2)[:k]


right = [colours[n] == (sum(colours[m] for m in nearest(n)) * 2 > k) for n in range(len(points))]
print(f"accuracy: {sum(right) / len(right):.4f}")
'''


def command(beginning: str) -> list[str]:
    """The arguments of the one command of README that begins so."""
    [line] = re.findall(rf"(?m)^podium ({re.escape(beginning)}.*)$", README.read_text(encoding="utf-8"))
    return shlex.split(line, comments=True)


def podium(tmp_path: Path, *arguments: str) -> Any:
    """Run a command with a home and a current folder of its own, and return its JSON output."""
    program = str(Path(sys.executable).with_name("podium"))
    environment = {**os.environ, "PODIUM_HOME": str(tmp_path / "home")}
    done = subprocess.run(
        [program, *arguments, "--json"], cwd=tmp_path, capture_output=True, text=True, env=environment, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("beginnings", "min_improvement"),
    [(("baseline house-price", "run house-price"), 30.0), (("run DIR --goal",), 10.0)],
    ids=["house prices", "own code"],
)
def test_starter_code_is_improved_without_a_model(
    beginnings: tuple[str, ...], min_improvement: float, tmp_path: Path
) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "train.py").write_text(PROJECT, encoding="utf-8")
    values = {"DIR": "project", "TEXT": "Raise the accuracy."}
    outputs = [podium(tmp_path, *(values.get(word, word) for word in command(beginning))) for beginning in beginnings]
    [record] = outputs[-1]
    assert (record["agent"], record["model"], record["status"], record["valid"]) == ("edits", None, "finished", True)
    assert record["improvement"] > min_improvement
    assert record["success"]
    assert record["beyond_noise"]


def test_the_starter_code_of_a_research_task_is_measured(tmp_path: Path) -> None:
    words = command("baseline ")
    words[words.index("--seeds") + 1] = "1"
    measured = podium(tmp_path, *words)
    assert (measured["n"], measured["failed"], measured["miniature"]) == (1, 0, True)
