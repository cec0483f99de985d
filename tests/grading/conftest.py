from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from toys import Toy, toy_task

from podium.task import Columns, Number


@pytest.fixture
def numbers(tmp_path: Path) -> Toy:
    """Ids 1 to 6 with the answers 0.1 to 0.6; a prediction lies between -10 and 10."""
    answers = pd.DataFrame({"id": range(1, 7), "y": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]})
    return Toy(toy_task(Columns("id", "y", Number(-10, 10)), answers), tmp_path)
