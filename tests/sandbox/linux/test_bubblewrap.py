"""Behaviour specific to bubblewrap."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from podium.errors import PodiumError, SandboxGoneError
from podium.sandbox.conformance import Bench
from podium.sandbox.conformance.fixtures import eventually
from podium.sandbox.linux import bubblewrap
from podium.sandbox.linux.bubblewrap import Bubblewrap
from podium.sandbox.linux.limits import cgroups
from podium.sandbox.linux.limits.cgroups import Group
from podium.sandbox.linux.limits.process_tree import tree
from podium.sandbox.spec import Limits, Mount, SandboxSpec


def test_missing_bubblewrap_is_reported_and_leaves_nothing(
    spec: SandboxSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(PodiumError, match="apt install bubblewrap"):
        Bubblewrap().open(spec)
    assert list(tmp_path.glob("podium-sandbox-*")) == []


def test_failed_start_is_explained_and_leaves_nothing(
    spec: SandboxSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    mount = Mount(source=tmp_path / "missing", target="/home/missing")
    with pytest.raises(PodiumError, match=r"does not start: bwrap: .*missing"):
        Bubblewrap().open(spec.model_copy(update={"mounts": (mount,)}))
    assert list(tmp_path.glob("podium-sandbox-*")) == []


def test_folders_between_mounts_are_mounts_themselves(tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    (tmp_path / "f").write_text("x")
    mounts = (
        Mount(source=tmp_path / "w", target="/home", writable=True),
        Mount(source=tmp_path / "f", target="/home/a/b/f"),
        Mount(source=tmp_path / "f", target="/home/a/g"),
    )
    options = list(bubblewrap._mounts(mounts))
    assert [options[place : place + 3] for place in range(0, len(options), 3)] == [
        ["--bind", f"{tmp_path}/w", "/home"],
        ["--bind", f"{tmp_path}/w/a", "/home/a"],
        ["--bind", f"{tmp_path}/w/a/b", "/home/a/b"],
        ["--ro-bind", f"{tmp_path}/f", "/home/a/b/f"],
        ["--ro-bind", f"{tmp_path}/f", "/home/a/g"],
    ]


def test_images_are_refused(spec: SandboxSpec) -> None:
    with pytest.raises(PodiumError, match="has no images"):
        Bubblewrap().check(spec.model_copy(update={"image": "debian"}))


def test_a_first_process_killed_from_outside_is_noticed(spec: SandboxSpec) -> None:
    with Bubblewrap().open(spec) as sandbox:
        os.kill(sandbox.pid, signal.SIGKILL)
        with pytest.raises(SandboxGoneError):
            sandbox.run(["true"])


@pytest.mark.parametrize(
    "name",
    [
        "memory_is_limited",
        "shared_memory_leaves_some_for_the_next_program",
        "memory_limit_is_reported_each_time",
    ],
)
def test_limits_are_enforced_without_control_groups(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroups, "make_group", lambda limits, pid: Group({}))
    with Bench(Bubblewrap()) as bench:
        result = bench.run(name)
    assert result.status == "passed", result.reason


# If the kernel limits nothing (root without control groups), a bomb starts thousands of processes before it is
# measured, on a busy machine enough to make everything else fail. So a wide control group, unknown to the sandbox,
# contains it.
@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["a_full_process_table_is_emptied", "a_full_process_table_in_the_background_is_emptied_when_needed"]
)
def test_bomb_is_stopped_without_control_groups(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fences = []

    def make_fence(limits: Limits, pid: int) -> Group:
        fences.append(make_group(limits.model_copy(update={"processes": 10 * limits.processes}), pid))
        return Group({})

    make_group = cgroups.make_group
    monkeypatch.setattr(cgroups, "make_group", make_fence)
    with Bench(Bubblewrap()) as bench:
        result = bench.run(name)
    for fence in fences:
        fence.remove()
    assert result.status == "passed", result.reason


def test_folders_and_control_groups_of_a_killed_process_are_removed_later(tmp_path: Path) -> None:
    program = f"""
from pathlib import Path
from podium.sandbox.linux.bubblewrap import Bubblewrap
from podium.sandbox.linux.limits.cgroups import Group
from podium.sandbox.spec import SandboxSpec
sandbox = Bubblewrap().open(SandboxSpec(workspace=Path({str(tmp_path / "workspace")!r})))
sandbox.enforced()
print(sandbox.pid, sandbox._temporary, flush=True)
sandbox.run(["sleep", "302"])
"""
    command = [sys.executable, "-c", program]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as host:
        assert host.stdout is not None
        first, temporary = host.stdout.readline().split()
        groups = (Path(temporary) / "groups").read_text().split()
        host.kill()
    assert eventually(lambda: len(tree(int(first))) == 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tempfile.tempdir", str(tmp_path))
        with Bubblewrap().open(SandboxSpec(workspace=tmp_path / "workspace")):
            assert eventually(lambda: not Path(temporary).exists())
    assert not any(Path(group).exists() for group in groups)
