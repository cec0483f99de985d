"""Sandboxes to test with. They are real: only a machine on which bubblewrap cannot work skips these tests."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path

import pytest

from podium.errors import PodiumError
from podium.sandbox.linux.bubblewrap import Bubblewrap
from podium.sandbox.linux.supervised_sandbox import SupervisedSandbox
from podium.sandbox.spec import SandboxSpec


@functools.cache
def reason_without_bubblewrap() -> str | None:
    try:
        Bubblewrap().open(SandboxSpec()).stop()
    except PodiumError as error:
        return str(error)
    return None


@pytest.fixture(autouse=True)
def bubblewrap() -> None:
    reason = reason_without_bubblewrap()
    if reason is not None:
        pytest.skip(reason)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def spec(tmp_path: Path) -> SandboxSpec:
    """Return the spec of a sandbox with the Python of the tests, around an empty workspace."""
    return SandboxSpec(workspace=tmp_path / "workspace")


@pytest.fixture
def sandbox(spec: SandboxSpec) -> Iterator[SupervisedSandbox]:
    with Bubblewrap().open(spec) as running:
        yield running
