from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from workbench import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path)
    with made.serving():
        yield made
