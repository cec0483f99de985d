"""docs/writing-an-agent.md is done as it stands, block by block."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.docs
DOCUMENT = Path(__file__).parents[2] / "docs" / "writing-an-agent.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def followed(data_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which somebody has followed the page: files saved under their names, commands typed."""
    folder = tmp_path_factory.mktemp("tutorial")
    (folder / "home").mkdir()
    (folder / "home" / "data").symlink_to(data_dir)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PODIUM_HOME": str(folder / "home"), "PATH": path, "PYTHONPATH": "."}
    output = ""
    for language, text in BLOCK.findall(DOCUMENT.read_text(encoding="utf-8")):
        if language == "sh":
            done = subprocess.run(
                ["bash", "-e", "-c", text], cwd=folder, env=environment, capture_output=True, text=True
            )
            assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"
            output += done.stdout
        else:
            name = text.split("\n", 1)[0].removeprefix("# ")
            (folder / name).write_text(text, encoding="utf-8")
    (folder / "output.txt").write_text(output, encoding="utf-8")
    return folder


def test_the_agent_of_the_page_wins_a_score_and_its_tests_pass(followed: Path) -> None:
    output = (followed / "output.txt").read_text(encoding="utf-8")
    assert "ladder:Ladder: Tries some classifiers, one after the other, and submits the best." in output
    assert "-A folds=...  [default: 3]" in output
    assert re.search(r"/0 +\w.* 0\.[67]", output)
    assert "Submit script" in output
    assert "--role writer=MODEL" in output
    assert len(re.findall(r"1 passed", output)) == 2


def test_the_program_of_the_page_is_graded_as_it_is(followed: Path) -> None:
    [record] = (followed / "runs" / "program").glob("*/*/run.json")
    found = json.loads(record.read_text(encoding="utf-8"))
    assert (found["status"], found["valid"]) == ("finished", True)
    assert found["score"] > 0.6


def test_installed_packages_offer_agents_by_name(followed: Path) -> None:
    """As pip would leave the package of the page: its modules and its metadata."""
    metadata = followed / "podium_ladder-0.1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: podium-ladder\nVersion: 0.1\n")
    points = re.search(r'entry-points\."(podium\.agents)"\]\n(.*)', (followed / "pyproject.toml").read_text())
    assert points
    (metadata / "entry_points.txt").write_text(f"[{points[1]}]\n{points[2].replace(chr(34), '')}\n")
    done = subprocess.run(
        [Path(sys.executable).parent / "podium", "agents"],
        env={**os.environ, "PYTHONPATH": str(followed)},
        capture_output=True,
        text=True,
    )
    assert "recipes " in done.stdout
    assert re.search(r"^ladder +Tries some classifiers", done.stdout, re.MULTILINE), done.stdout + done.stderr
