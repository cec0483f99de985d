"""What a run needs of its sandbox, whichever it is: our own, or any of Inspect's providers."""

from __future__ import annotations

import json
import math
import socket
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from anyio import to_thread
from inspect_ai.util import SandboxEnvironment, SandboxEnvironmentSpec

from podium.sandbox.config import BubblewrapConfig
from podium.sandbox.output import Output
from podium.sandbox.policy import HOME, Mount
from podium.sandbox.provider import BubblewrapSandbox
from podium.sandbox.sandbox import Outcome


class Environment(Protocol):
    """Where an agent's programs run."""

    home: str
    """The workspace as programs see it."""

    async def run(
        self,
        command: Sequence[str],
        *,
        cwd: str,
        stdin: bytes = b"",
        environment: Mapping[str, str] | None = None,
        timeout_s: float | None = None,
        cores: Sequence[int] | None = None,
        background: bool = False,
    ) -> Outcome:
        """Runs a program to its end."""
        ...

    async def read(self, path: str, *, limit_bytes: int) -> bytes:
        """The content of a regular file."""
        ...

    async def write(self, path: str, data: bytes) -> None:
        """Makes or replaces a file."""
        ...

    def listen(self, port: int) -> socket.socket | None:
        """A socket for a port that programs reach on their loopback; None where that cannot be had."""
        ...

    async def stop(self) -> None:
        """Ends everything in it."""
        ...


class Sealed:
    """Our own sandbox."""

    home = HOME

    def __init__(self, provider: BubblewrapSandbox) -> None:
        self._provider = provider

    async def run(
        self,
        command: Sequence[str],
        *,
        cwd: str,
        stdin: bytes = b"",
        environment: Mapping[str, str] | None = None,
        timeout_s: float | None = None,
        cores: Sequence[int] | None = None,
        background: bool = False,
    ) -> Outcome:
        return await self._provider.run(
            command,
            cwd=cwd,
            stdin=stdin,
            environment=environment,
            timeout_s=timeout_s,
            cores=cores,
            background=background,
        )

    async def read(self, path: str, *, limit_bytes: int) -> bytes:
        return await to_thread.run_sync(lambda: self._provider.sandbox.read(path, limit_bytes=limit_bytes))

    async def write(self, path: str, data: bytes) -> None:
        await to_thread.run_sync(self._provider.sandbox.write, path, data)

    def listen(self, port: int) -> socket.socket | None:
        return self._provider.sandbox.listen(port)

    async def stop(self) -> None:
        await to_thread.run_sync(self._provider.sandbox.stop)


class Provided:
    """A sandbox of one of Inspect's providers, with what those offer: no core binding, no ports, no bounds of ours."""

    def __init__(self, provider: SandboxEnvironment, home: str) -> None:
        self._provider, self.home = provider, home

    async def run(
        self,
        command: Sequence[str],
        *,
        cwd: str,
        stdin: bytes = b"",
        environment: Mapping[str, str] | None = None,
        timeout_s: float | None = None,
        cores: Sequence[int] | None = None,
        background: bool = False,
    ) -> Outcome:
        started = time.monotonic()
        try:
            done = await self._provider.exec(
                list(command),
                input=stdin,
                cwd=cwd,
                env=dict(environment or {}),
                timeout=None if timeout_s is None else math.ceil(timeout_s),
                timeout_retry=False,
                concurrency=False,
            )
        except TimeoutError as error:
            printed = Output(str(getattr(error, "truncated_output", None) or "").encode())
            stopped = f"time limit of {timeout_s:g} s"
            return Outcome(137, printed, Output(b""), time.monotonic() - started, stopped)
        except PermissionError as error:
            return Outcome(126, Output(b""), Output(f"{error}\n".encode()), time.monotonic() - started)
        stdout, stderr = Output(done.stdout.encode()), Output(done.stderr.encode())
        return Outcome(done.returncode, stdout, stderr, time.monotonic() - started)

    async def read(self, path: str, *, limit_bytes: int) -> bytes:
        return (await self._provider.read_file(f"{self.home}/{path}", text=False))[: limit_bytes + 1]

    async def write(self, path: str, data: bytes) -> None:
        await self._provider.write_file(f"{self.home}/{path}", data)

    def listen(self, port: int) -> socket.socket | None:
        return None

    async def stop(self) -> None:
        return None


def adapt(provider: SandboxEnvironment, sealing: str, workspace: Path) -> Environment:
    """A running sandbox of some kind as a run uses it."""
    if sealing == "bubblewrap":
        return Sealed(provider.as_type(BubblewrapSandbox))
    return Provided(provider, HOME if sealing == "docker" else str(workspace.absolute()))


def specification(sealing: str, config: BubblewrapConfig, workspace: Path, folder: Path) -> SandboxEnvironmentSpec:
    """How Inspect is asked for a kind of sandbox.

    Args:
        folder: where a file for it may be put.
    """
    if sealing == "bubblewrap":
        return SandboxEnvironmentSpec("bubblewrap", config)
    if sealing == "docker":
        path = folder / "compose.yaml"
        path.write_text(json.dumps(compose(config, workspace), indent=1), encoding="utf-8")  # JSON is YAML too
        return SandboxEnvironmentSpec("docker", str(path))
    link_inside(workspace, config.mounts)
    return SandboxEnvironmentSpec("local")


def compose(config: BubblewrapConfig, workspace: Path) -> dict[str, object]:
    """A Docker Compose file for a container that sees what our sandbox would show, but for the Python environment."""
    volumes = [f"{workspace.absolute()}:{HOME}"]
    volumes += [f"{mount.source.absolute()}:{mount.target}{'' if mount.writable else ':ro'}" for mount in config.mounts]
    service: dict[str, object] = {
        "image": "python:3.11",
        "init": True,
        "command": "tail -f /dev/null",
        "working_dir": HOME,
        "volumes": volumes,
        "environment": dict(config.environment),
        "pids_limit": config.limits.processes,
        "shm_size": config.limits.shared_memory_bytes,
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges"],
    }
    if config.limits.memory_bytes is not None:
        service["mem_limit"] = config.limits.memory_bytes
    if not config.network:
        service["network_mode"] = "none"
    return {"services": {"default": service}}


def link_inside(workspace: Path, mounts: Sequence[Mount]) -> None:
    """Puts what would be mounted into the workspace as links: there is nothing that could mount it."""
    for mount in mounts:
        place = workspace / Path(mount.target).relative_to(HOME)
        if place.is_dir() and not place.is_symlink() and not any(place.iterdir()):
            place.rmdir()
        elif place.is_file() and place.stat().st_size == 0:
            place.unlink()
        if not place.exists():
            place.symlink_to(mount.source.absolute())
