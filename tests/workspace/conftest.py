from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from folders import MEMORY

from podium.workspace.history.history import History


@pytest.fixture
def in_memory() -> Iterator[Path]:
    """A folder for what would reach a disk thousands of times."""
    with tempfile.TemporaryDirectory(dir=MEMORY) as name:
        yield Path(name)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def history(tmp_path: Path, workspace: Path) -> Iterator[History]:
    with History(tmp_path / "history", workspace, patience_s=0) as opened:
        yield opened
