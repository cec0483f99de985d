from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from podium.workspace.history import History


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def history(tmp_path: Path, workspace: Path) -> Iterator[History]:
    with History(tmp_path / "workspace.git", workspace, patience_s=0) as opened:
        yield opened
