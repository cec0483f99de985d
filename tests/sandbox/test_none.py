"""Behaviour specific to programs without a sandbox."""

from __future__ import annotations

import errno
import socket
from pathlib import Path

import pytest

from podium.errors import PodiumError
from podium.sandbox.linux.limits import cgroups
from podium.sandbox.none import NoSandbox
from podium.sandbox.spec import HOME, Mount, SandboxSpec


@pytest.fixture
def data(tmp_path: Path) -> Mount:
    (tmp_path / "public").mkdir()
    (tmp_path / "public/train.csv").write_text("a,b\n")
    return Mount(source=tmp_path / "public", target=f"{HOME}/data")


def test_mounts_are_links_and_writable_in_the_policy(spec: SandboxSpec, data: Mount) -> None:
    with NoSandbox().open(spec.model_copy(update={"mounts": (data,)})) as sandbox:
        link = sandbox.workspace / "data"
        assert link.readlink() == data.source
        (mount,) = (mount for mount in sandbox.enforced().mounts if mount.source == data.source)
        assert (mount.target, mount.writable) == (str(link), True)
        with pytest.raises(OSError) as caught:
            sandbox.write("data/train.csv", b"x")
        assert caught.value.errno == errno.EROFS


def test_links_replace_empty_files_but_not_an_agents(spec: SandboxSpec, data: Mount, tmp_path: Path) -> None:
    (tmp_path / "given").write_text("given")
    given = Mount(source=tmp_path / "given", target=f"{HOME}/given.txt")
    workspace = tmp_path / "workspace"
    (workspace / "data").mkdir(parents=True)
    (workspace / "given.txt").write_text("of the agent")
    with NoSandbox().open(spec.model_copy(update={"mounts": (data, given)})) as sandbox:
        assert sandbox.run(["cat", "data/train.csv", "given.txt"]).stdout.text == "a,b\nof the agent"


def test_mounts_outside_the_workspace_are_refused(spec: SandboxSpec, data: Mount) -> None:
    elsewhere = data.model_copy(update={"target": "/opt/data"})
    with pytest.raises(PodiumError, match="/opt/data"):
        NoSandbox().open(spec.model_copy(update={"mounts": (elsewhere,)}))


def test_used_port_is_not_available(spec: SandboxSpec) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, NoSandbox().open(spec) as sandbox:
        assert sandbox.listen(server.getsockname()[1]) is None


def test_files_outside_are_opened_by_absolute_path(spec: SandboxSpec, tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("named")
    with NoSandbox().open(spec) as sandbox:
        assert sandbox.read(str(tmp_path / "outside"), limit_bytes=10) == b"named"


def test_policy_lists_its_gaps(spec: SandboxSpec, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroups, "make_group", lambda limits, pid: cgroups.Group({}))
    with NoSandbox().open(spec) as sandbox:
        assert sandbox.enforced().gaps() == [
            "programs were not isolated",
            "limits on memory and processes were only measured, not enforced by the kernel",
            "there was no limit on shared memory",
        ]
