from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from workbench import Bench, ScriptedModels


@pytest.fixture
def models() -> Iterator[ScriptedModels]:
    served = ScriptedModels()
    yield served
    served.close()


@pytest.fixture
def bench(tmp_path: Path, models: ScriptedModels) -> Bench:
    return Bench(tmp_path, models)
