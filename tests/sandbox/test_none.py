"""What only programs without a sandbox can rely on."""

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


def test_mounts_are_links_and_the_policy_says_that_they_can_be_written(spec: SandboxSpec, data: Mount) -> None:
    with NoSandbox().open(spec.model_copy(update={"mounts": (data,)})) as sandbox:
        link = sandbox.workspace / "data"
        assert link.readlink() == data.source
        (mount,) = (mount for mount in sandbox.enforced().mounts if mount.source == data.source)
        assert (mount.target, mount.writable) == (str(link), True)
        with pytest.raises(OSError) as caught:
            sandbox.write("data/train.csv", b"x")
        assert caught.value.errno == errno.EROFS


def test_what_was_laid_out_empty_makes_room_for_a_link_and_what_an_agent_wrote_does_not(
    spec: SandboxSpec, data: Mount, tmp_path: Path
) -> None:
    (tmp_path / "given").write_text("given")
    given = Mount(source=tmp_path / "given", target=f"{HOME}/given.txt")
    workspace = tmp_path / "workspace"
    (workspace / "data").mkdir(parents=True)
    (workspace / "given.txt").write_text("of the agent")
    with NoSandbox().open(spec.model_copy(update={"mounts": (data, given)})) as sandbox:
        assert sandbox.run(["cat", "data/train.csv", "given.txt"]).stdout.text == "a,b\nof the agent"


def test_nothing_can_be_shown_outside_the_workspace(spec: SandboxSpec, data: Mount) -> None:
    elsewhere = data.model_copy(update={"target": "/opt/data"})
    with pytest.raises(PodiumError, match="/opt/data"):
        NoSandbox().open(spec.model_copy(update={"mounts": (elsewhere,)}))


def test_a_port_that_somebody_else_has_is_not_had(spec: SandboxSpec) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, NoSandbox().open(spec) as sandbox:
        assert sandbox.listen(server.getsockname()[1]) is None


def test_files_outside_are_opened_when_they_are_named(spec: SandboxSpec, tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("named")
    with NoSandbox().open(spec) as sandbox:
        assert sandbox.read(str(tmp_path / "outside"), limit_bytes=10) == b"named"


def test_the_policy_says_what_does_not_hold(spec: SandboxSpec, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroups, "make_group", lambda limits, pid: cgroups.Group({}))
    with NoSandbox().open(spec) as sandbox:
        assert sandbox.enforced().gaps() == [
            "programs were not sealed off",
            "memory and processes only watched, not held by the kernel",
            "shared memory not limited",
        ]
