"""The local executor keeps the promises of the seam, and names lead to executors."""

from __future__ import annotations

from pathlib import Path

import pytest
from running import TASK

from podium.errors import UsageError
from podium.runs.drive.executors import executor_conformance, make_executor
from podium.runs.drive.executors.local_executor import LocalExecutor


@pytest.mark.parametrize("parallel", [pytest.param(1, marks=pytest.mark.slow), 3])
def test_the_local_executor_conforms(tmp_path: Path, data_dir: Path, parallel: int) -> None:
    executor_conformance.check_executor(lambda: LocalExecutor(parallel=parallel), tmp_path, TASK, data_dir)


def test_an_executor_is_found_by_its_name() -> None:
    assert isinstance(make_executor("local", parallel=2), LocalExecutor)
    assert isinstance(make_executor("podium.runs.drive.executors.local_executor:LocalExecutor"), LocalExecutor)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("locl", "There is no executor 'locl'. Did you mean 'local'?"),
        ("local://here", "local runs take no address"),
        ("nowhere:Executor", "cannot be loaded from nowhere:Executor"),
    ],
)
def test_wrong_name_gives_advice(text: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        make_executor(text)
