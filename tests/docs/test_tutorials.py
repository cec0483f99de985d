"""What the pages say works as they say it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tutorial import run_tutorial

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
LONG = ("first-experiment.md",)
"""Pages whose commands take a while: make test-docs."""
EXECUTED = ("adding-a-task.md", "writing-an-agent.md", *LONG)
"""All pages that tests follow to the letter; tests/agents has one of them to itself."""


@pytest.mark.parametrize("page", ["adding-a-task.md", *(pytest.param(page, marks=pytest.mark.docs) for page in LONG)])
def test_a_tutorial_can_be_followed_to_the_letter(page: str, tmp_path: Path) -> None:
    assert run_tutorial(DOCS / page, tmp_path) > 5
