"""Inspect's own conformance suite for sandbox providers."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from inspect_ai.util._sandbox import self_check
from inspect_ai.util._sandbox.self_check import *  # noqa: F403

from podium.sandbox.inspect import PodiumSandbox
from podium.sandbox.spec import SandboxSpec

pytestmark = pytest.mark.anyio

REFUSED = {"test_exec_as_user": "a sandbox has one user: there is nobody else to run as"}
SLEEPS = ("test_exec_timeout", "test_exec_timeout_kills_process", "test_exec_timeout_kills_child_processes")

for name in SLEEPS:
    pytest.mark.slow(getattr(self_check, name))


@pytest.fixture(scope="module")
async def shared_sandbox() -> AsyncIterator[PodiumSandbox]:
    environments = await PodiumSandbox.sample_init("self_check", SandboxSpec(), {})
    yield environments["default"].as_type(PodiumSandbox)
    await PodiumSandbox.sample_cleanup("self_check", SandboxSpec(), environments, False)


@pytest.fixture
async def sandbox_env(request: pytest.FixtureRequest, shared_sandbox: PodiumSandbox) -> PodiumSandbox:
    if reason := REFUSED.get(request.node.originalname):
        request.node.add_marker(pytest.mark.xfail(reason=reason, strict=True))
    return shared_sandbox


def test_all_checks_are_here() -> None:
    assert len(self_check.__all__) >= 44
