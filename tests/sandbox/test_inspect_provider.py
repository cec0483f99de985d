"""Behaviour of the Inspect provider beyond Inspect's own checks (test_self_check.py)."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from inspect_ai.util import (
    OutputLimitExceededError,
    SandboxEnvironmentSpec,
    SandboxUnavailableError,
    SandboxUserUnsupportedError,
)
from inspect_ai.util._sandbox.limits import override_sandbox_output_limit  # noqa: TID251
from inspect_ai.util._sandbox.registry import registry_find_sandboxenv  # noqa: TID251

from podium.sandbox.inspect_provider import BackendSpec, PodiumSandbox
from podium.sandbox.interpreters.interpreter import find_interpreter
from podium.sandbox.linux.leftovers import remove_leftovers
from podium.sandbox.linux.limits.process_tree import tree
from podium.sandbox.spec import Limits, Mount, SandboxSpec

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def started(config: SandboxSpec | str | None = None) -> AsyncIterator[PodiumSandbox]:
    environments = await PodiumSandbox.sample_init("test", config, {})
    try:
        yield environments["default"].as_type(PodiumSandbox)
    finally:
        await PodiumSandbox.sample_cleanup("test", config, environments, False)


@pytest.fixture
async def environment() -> AsyncIterator[PodiumSandbox]:
    async with started() as running:
        yield running


def programs(environment: PodiumSandbox) -> set[str]:
    """Return the command lines of the programs inside, as the host sees them."""
    lines = set()
    for pid in tree(environment.sandbox.pid):
        try:
            lines.add(Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode().strip())
        except OSError:
            continue
    return {line for line in lines if line and "init.py" not in line}


# Ending


async def test_cancelling_returns_at_once_and_leaves_no_process(environment: PodiumSandbox) -> None:
    with anyio.move_on_after(0.3) as scope:
        await environment.exec(["sh", "-c", "sleep 61 & setsid sleep 62 & trap '' TERM; sleep 63; :"])
    assert scope.cancelled_caught
    assert programs(environment) == set()


async def test_cancelling_before_the_start_runs_nothing(environment: PodiumSandbox) -> None:
    with anyio.CancelScope() as scope:
        scope.cancel()
        await environment.exec(["touch", "started"])
    assert scope.cancelled_caught
    assert list(environment.sandbox.workspace.iterdir()) == []


async def test_cancelling_one_program_spares_the_others(environment: PodiumSandbox) -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(environment.exec, ["sh", "-c", "sleep 1; echo done > result"])
        with anyio.move_on_after(0.2):
            await environment.exec(["sleep", "60"])
    assert await environment.read_file("result") == "done\n"


async def test_orphans_that_hold_the_pipes_do_not_block(environment: PodiumSandbox) -> None:
    result = await environment.exec(["sh", "-c", "(sleep 60; echo late) & echo first"])
    assert result.stdout == "first\n"


async def test_background_programs_live_until_the_sandbox_is_cleaned_up() -> None:
    async with started() as environment:
        await environment.exec(["sh", "-c", "sleep 61 > /dev/null 2>&1 & setsid sleep 62 > /dev/null 2>&1 &"])
        while programs(environment) != {"sleep 61", "sleep 62"}:
            await anyio.sleep(0.02)
        pids = tree(environment.sandbox.pid)
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


async def test_timeout_carries_the_output_so_far(environment: PodiumSandbox) -> None:
    with pytest.raises(TimeoutError) as caught:
        await environment.exec(["sh", "-c", "echo out; echo err >&2; sleep 60 & sleep 60"], timeout=5)
    assert getattr(caught.value, "truncated_output", None) == "out\nerr\n"
    assert programs(environment) == set()


async def test_killed_program_is_not_a_timeout(environment: PodiumSandbox) -> None:
    result = await environment.exec(["sh", "-c", "kill -9 $$"], timeout=30)
    assert (result.success, result.returncode) == (False, 137)


async def test_memory_limit_is_reported_to_the_model() -> None:
    limits = Limits(memory_bytes=200 << 20)
    async with started(SandboxSpec(limits=limits)) as environment:
        result = await environment.exec(["python", "-c", "x = bytearray(1 << 30); import time; time.sleep(5)"])
    assert result.returncode == 137
    assert "memory limit" in result.stderr


async def test_cleanup_is_idempotent() -> None:
    environments = await PodiumSandbox.sample_init("test", None, {})
    environments["default"].as_type(PodiumSandbox).sandbox.stop()
    await PodiumSandbox.sample_cleanup("test", None, environments, True)
    await PodiumSandbox.sample_cleanup("test", None, environments, False)


async def test_a_sandbox_that_has_ended_is_unavailable() -> None:
    async with started() as environment:
        pass
    with pytest.raises(SandboxUnavailableError):
        await environment.exec(["true"])
    with pytest.raises(SandboxUnavailableError):
        await environment.read_file("file")
    with pytest.raises(SandboxUnavailableError):
        await environment.write_file("file", "")
    with pytest.raises((ConnectionError, NotImplementedError)):
        await environment.connection()


# Running


async def test_starting_does_not_block_the_event_loop() -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await anyio.sleep(0.001)
            ticks += 1

    async with anyio.create_task_group() as group:
        group.start_soon(tick)
        async with started():
            seen = ticks
        group.cancel_scope.cancel()
    assert seen > 1


async def test_more_programs_run_at_once_than_inspect_has_threads(environment: PodiumSandbox) -> None:
    count = 45  # anyio's own threads are 40
    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            for number in range(count):
                group.start_soon(environment.exec, ["sh", "-c", f"touch {number}; exec sleep 60"])
            while len(list(environment.sandbox.workspace.iterdir())) < count:
                await anyio.sleep(0.05)
            group.cancel_scope.cancel()
    assert programs(environment) == set()


async def test_the_only_user_may_be_named(environment: PodiumSandbox) -> None:
    assert (await environment.exec(["whoami"], user="agent")).stdout == "agent\n"


async def test_other_users_are_refused(environment: PodiumSandbox) -> None:
    with pytest.raises(SandboxUserUnsupportedError, match="root"):
        await environment.exec(["whoami"], user="root")


async def test_the_end_of_long_output_is_kept(environment: PodiumSandbox) -> None:
    with override_sandbox_output_limit(1000, "exec"):
        result = await environment.exec(["sh", "-c", "seq 100000; head -c 5000 /dev/zero | tr '\\0' '\\377' >&2"])
    assert result.stdout.endswith("\n99999\n100000\n")
    assert len(result.stdout) == 1000
    assert set(result.stderr) == {"\N{REPLACEMENT CHARACTER}"}
    assert len(result.stderr.encode()) <= 1000


async def test_impossible_commands_are_failures_not_errors(environment: PodiumSandbox) -> None:
    zero = await environment.exec(["echo", "a\0b"])
    assert (zero.returncode, zero.stderr) == (126, "echo: embedded null byte\n")
    assert (await environment.exec(["echo", "half \ud83d"])).stdout == "half ?\n"
    assert (await environment.exec(["no-such-program"])).returncode == 127
    assert (await environment.exec(["pwd"], cwd="nowhere")).returncode == 126


async def test_path_variable_of_the_call_selects_the_program(environment: PodiumSandbox) -> None:
    await environment.write_file("bin/greet", "#!/bin/sh\necho hello\n")
    await environment.exec(["chmod", "+x", "bin/greet"])
    assert (await environment.exec(["greet"], env={"PATH": "/home/bin"})).stdout == "hello\n"


# Files


@pytest.mark.parametrize(
    ("prepare", "name", "expected"),
    [
        ("echo x > plain", "plain/below", FileNotFoundError),
        ("ln -s loop loop", "loop", FileNotFoundError),
        ("true", "n" * 300, FileNotFoundError),
        ("mkfifo pipe", "pipe", PermissionError),
        ("ln -s /dev/zero endless", "endless", PermissionError),
        ("mkdir folder", "folder", IsADirectoryError),
        ("true", "zero\0byte", PermissionError),
    ],
)
async def test_failed_read_is_an_answer_for_the_model(
    environment: PodiumSandbox, prepare: str, name: str, expected: type[OSError]
) -> None:
    await environment.exec(["sh", "-c", prepare])
    with pytest.raises(expected):
        await environment.read_file(name)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("/new", PermissionError),
        ("/new/folder/file", PermissionError),
        ("/dev/null", PermissionError),
        ("plain/below", FileNotFoundError),
        ("zero\0byte", PermissionError),
        ("half \ud83d", PermissionError),
        ("a/" * 5000 + "b", FileNotFoundError),
    ],
)
async def test_failed_write_is_an_answer_for_the_model(
    environment: PodiumSandbox, name: str, expected: type[OSError]
) -> None:
    await environment.write_file("plain", "")
    with pytest.raises(expected):
        await environment.write_file(name, "x")
    assert (await environment.exec(["true"])).success


@pytest.mark.parametrize("name", ["a/" * 1100 + "b", "x//y/../z", "/home/one"])
async def test_written_files_get_the_folders_they_need(environment: PodiumSandbox, name: str) -> None:
    await environment.write_file(name, "x")
    assert await environment.read_file(name) == "x"


async def test_files_that_are_too_large_are_not_read(environment: PodiumSandbox) -> None:
    await environment.exec(["truncate", "-s", "100M", "sparse"])
    with override_sandbox_output_limit(1 << 20, "read_file"), pytest.raises(OutputLimitExceededError):
        await environment.read_file("sparse", text=False)


async def test_only_a_temporary_workspace_is_removed(tmp_path: Path) -> None:
    async with started() as environment:
        await environment.exec(["sh", "-c", "mkdir -p locked/inner; touch locked/inner/file; chmod 0 locked"])
    assert not environment.sandbox.workspace.exists()
    given = tmp_path / "new" / "workspace"
    async with started(SandboxSpec(workspace=given)) as environment:
        await environment.write_file("file", "kept")
    assert (given / "file").read_text() == "kept"


async def test_chosen_variables_are_visible() -> None:
    async with started(SandboxSpec(environment={"SEED": "3"})) as environment:
        assert (await environment.exec(["sh", "-c", "echo $SEED"])).stdout == "3\n"


# Around it


def test_inspect_finds_the_provider_by_name() -> None:
    assert issubclass(registry_find_sandboxenv("bubblewrap"), PodiumSandbox)


def test_configuration_survives_a_log_and_fits_into_sets(tmp_path: Path) -> None:
    config = BackendSpec(
        env=tmp_path,
        mounts=(Mount(source=tmp_path, target="/home/data"),),
        environment={"SEED": "3"},
        limits=Limits(memory_bytes=1 << 30),
    )
    spec = SandboxEnvironmentSpec("bubblewrap", config)
    again = SandboxEnvironmentSpec.model_validate_json(spec.model_dump_json())
    assert again == spec
    assert {spec, again} == {spec}


async def test_configuration_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "sandbox.json"
    file.write_text('{"environment": {"SEED": "4"}}')
    async with started(str(file)) as environment:
        assert (await environment.exec(["sh", "-c", "echo $SEED"])).stdout == "4\n"


async def test_invalid_configuration_is_refused_before_the_first_sample(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="there is no Python environment") as caught:
        await PodiumSandbox.task_init("test", SandboxSpec(env=tmp_path))
    assert type(caught.value).__name__ == "PrerequisiteError"


@pytest.mark.skipif(os.geteuid() == 0, reason="root can open a shell inside")
async def test_connection_is_not_offered_without_root(environment: PodiumSandbox) -> None:
    with pytest.raises(NotImplementedError):
        await environment.connection()


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("nsenter") is None, reason="needs root and nsenter")
async def test_connection_is_a_command_that_opens_a_shell_inside(environment: PodiumSandbox) -> None:
    await environment.write_file("hello", "")
    command = (await environment.connection()).command
    done = await anyio.to_thread.run_sync(
        lambda: subprocess.run(f"{command} -c 'whoami; pwd; ls'", shell=True, capture_output=True, text=True)
    )
    assert done.stdout == "agent\n/home\nhello\n", done.stderr


async def test_only_leftovers_of_killed_processes_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for name in ("podium-sandbox-dead", "podium-workspace-dead", "podium-workspace-young", "other"):
        (tmp_path / name / "inner").mkdir(parents=True)
    async with started() as environment:
        for folder in tmp_path.iterdir():
            if not folder.name.endswith("young"):
                os.utime(folder, (0, 0))
        await PodiumSandbox.cli_cleanup("podium-sandbox-dead")
        assert not (tmp_path / "podium-sandbox-dead").exists()
        assert [folder.name for folder in remove_leftovers()] == ["podium-workspace-dead"]
        assert (tmp_path / "podium-workspace-young").exists()
        assert (tmp_path / "other").exists()
        assert (await environment.exec(["touch", "file", "/tmp/file"])).success


async def test_an_environment_behind_a_link_works(tmp_path: Path) -> None:
    link = tmp_path / "env"
    link.symlink_to(sys.prefix)
    async with started(SandboxSpec(env=link)) as environment:
        result = await environment.exec(["python", "-c", "import sys, numpy; print(sys.prefix)"])
    assert result.stdout.strip() == find_interpreter(link).shown_prefix
