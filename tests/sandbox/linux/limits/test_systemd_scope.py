"""Limits through the user's systemd, with a program in its place that makes the same control groups."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from podium.sandbox.conformance.fixtures import LIMITS, run_program
from podium.sandbox.linux.bubblewrap import Bubblewrap
from podium.sandbox.linux.limits import cgroups, systemd_scope
from podium.sandbox.none import NoSandbox
from podium.sandbox.spec import SandboxSpec

# As systemd does: a group with the limits, made before the command takes the place of this process.
SYSTEMD_RUN = """#!/bin/sh
name=podium-scope-$$
while [ "$1" != -- ]; do
    case $1 in
        --property=MemoryMax=*) memory=${1##*=} ;;
        --property=TasksMax=*) tasks=${1##*=} ;;
    esac
    shift
done
shift
mkdir MEMORY/$name PIDS/$name
echo $memory > MEMORY/$name/memory.limit_in_bytes 2> /dev/null || echo $memory > MEMORY/$name/memory.max
echo $tasks > PIDS/$name/pids.max
echo $$ > MEMORY/$name/cgroup.procs
echo $$ > PIDS/$name/cgroup.procs
exec "$@"
"""


@pytest.fixture
def systemd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    parents = {name: cgroups._parent(name) for name in ("memory", "pids")}
    if os.getuid() != 0 or None in parents.values() or len({*parents.values()}) == 1:
        pytest.skip("only root can make control groups, and this stand-in only those of version 1")
    text = SYSTEMD_RUN.replace("MEMORY", str(parents["memory"])).replace("PIDS", str(parents["pids"]))
    (tmp_path / "systemd-run").write_text(text)
    (tmp_path / "systemd-run").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(cgroups, "limits_held", list)
    systemd_scope.is_used.cache_clear()
    yield
    systemd_scope.is_used.cache_clear()
    for parent in parents.values():
        assert parent is not None
        for folder in parent.glob("podium-scope-*"):
            folder.rmdir()


@pytest.mark.usefixtures("systemd")
@pytest.mark.parametrize("backend", [Bubblewrap(), NoSandbox()], ids=lambda backend: backend.name)
def test_a_scope_holds_memory_and_processes(backend: Bubblewrap | NoSandbox, spec: SandboxSpec) -> None:
    with backend.open(spec.model_copy(update={"limits": LIMITS})) as sandbox:
        policy = sandbox.enforced()
        assert {policy.limits[name].enforcement for name in ("memory_bytes", "processes")} == {"kernel"}
        assert backend.capabilities().limits["memory_bytes"] == "kernel"
        assert run_program(sandbox, "harm/eat_memory.pyw").stopped == "memory limit exceeded"


def test_refusing_systemd_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "systemd-run").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "systemd-run").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(cgroups, "limits_held", list)
    systemd_scope.is_used.cache_clear()
    assert not systemd_scope.is_used()
    assert systemd_scope.limits_held() == []
    systemd_scope.is_used.cache_clear()
