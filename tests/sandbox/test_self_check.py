"""Inspect's own conformance suite for sandboxes, over every backend."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator

import pytest
from inspect_ai.util._sandbox import self_check  # noqa: TID251
from inspect_ai.util._sandbox.self_check import *  # noqa: F403, TID251

from podium.sandbox.inspect_provider import BackendSpec, PodiumSandbox

pytestmark = pytest.mark.anyio

REFUSED = {"test_exec_as_user": "a sandbox has only one user"}
NOTHING_IS_LOCKED_TO_ROOT = {
    "none": (
        "test_read_file_not_allowed",
        "test_write_text_file_without_permissions",
        "test_write_binary_file_without_permissions",
    ),
    "bubblewrap": (),
    "docker": (),
}
SLEEPS = ("test_exec_timeout", "test_exec_timeout_kills_process", "test_exec_timeout_kills_child_processes")

for name in SLEEPS:
    pytest.mark.slow(getattr(self_check, name))


@pytest.fixture(scope="module", params=["bubblewrap", "none", pytest.param("docker", marks=pytest.mark.docker)])
async def shared_sandbox(request: pytest.FixtureRequest) -> AsyncIterator[PodiumSandbox]:
    spec = BackendSpec(backend=request.param)
    environments = await PodiumSandbox.sample_init("self_check", spec, {})
    yield environments["default"].as_type(PodiumSandbox)
    await PodiumSandbox.sample_cleanup("self_check", spec, environments, False)


@pytest.fixture
async def sandbox_env(request: pytest.FixtureRequest, shared_sandbox: PodiumSandbox) -> PodiumSandbox:
    test, backend = request.node.originalname, shared_sandbox.sandbox.enforced().backend
    if reason := REFUSED.get(test):
        request.node.add_marker(pytest.mark.xfail(reason=reason, strict=True))
    if os.getuid() == 0 and test in NOTHING_IS_LOCKED_TO_ROOT[backend]:
        request.node.add_marker(pytest.mark.xfail(reason="root can read locked files", strict=True))
    return shared_sandbox


def test_all_checks_are_here() -> None:
    assert len(self_check.__all__) >= 44
