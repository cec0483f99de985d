"""What the tutorials say works as they say it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tutorial import run_tutorial

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("page", ["adding-a-task.md"])
def test_a_tutorial_can_be_followed_to_the_letter(page: str, tmp_path: Path) -> None:
    assert run_tutorial(DOCS / page, tmp_path) > 5
