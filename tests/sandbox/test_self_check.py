"""Inspect's own conformance suite for sandbox providers."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from inspect_ai.util._sandbox import self_check
from inspect_ai.util._sandbox.self_check import *  # noqa: F403

from podium.sandbox.config import BubblewrapConfig
from podium.sandbox.provider import BubblewrapSandbox

pytestmark = pytest.mark.anyio

REFUSED = {"test_exec_as_user": "a sandbox has one user: there is nobody else to run as"}
SLEEPS = ("test_exec_timeout", "test_exec_timeout_kills_process", "test_exec_timeout_kills_child_processes")

for name in SLEEPS:
    pytest.mark.slow(getattr(self_check, name))


@pytest.fixture(scope="module")
async def shared_sandbox() -> AsyncIterator[BubblewrapSandbox]:
    environments = await BubblewrapSandbox.sample_init("self_check", BubblewrapConfig(), {})
    yield environments["default"].as_type(BubblewrapSandbox)
    await BubblewrapSandbox.sample_cleanup("self_check", BubblewrapConfig(), environments, False)


@pytest.fixture
async def sandbox_env(request: pytest.FixtureRequest, shared_sandbox: BubblewrapSandbox) -> BubblewrapSandbox:
    if reason := REFUSED.get(request.node.originalname):
        request.node.add_marker(pytest.mark.xfail(reason=reason, strict=True))
    return shared_sandbox


def test_all_checks_are_here() -> None:
    assert len(self_check.__all__) >= 44
