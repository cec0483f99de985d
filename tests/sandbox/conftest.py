"""Sandboxes to test with. They are real: only a machine on which bubblewrap cannot work skips these tests."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path

import pytest

from podium.errors import PodiumError
from podium.sandbox.config import BubblewrapConfig
from podium.sandbox.policy import Policy
from podium.sandbox.sandbox import Sandbox


@functools.cache
def reason_without_bubblewrap() -> str | None:
    try:
        Sandbox(Policy()).stop()
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
def policy(tmp_path: Path) -> Policy:
    """A sandbox with the Python of the tests, around an empty workspace."""
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    return BubblewrapConfig().policy(workspace)


@pytest.fixture
def sandbox(policy: Policy) -> Iterator[Sandbox]:
    with Sandbox(policy) as running:
        yield running
