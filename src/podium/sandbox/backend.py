"""Backend protocol: a `Backend` opens a `Sandbox`, which runs a `Program`.

A package adds a backend by naming a class of its own in the entry-point group `podium.backends`; `conformance.check`
verifies that it keeps the promises made here.
"""

from __future__ import annotations

import socket
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Literal, Protocol, Self, TypedDict, Unpack

from podium import plugins
from podium.sandbox.policy import Enforcement, Policy
from podium.sandbox.program_result import Keep, ProgramResult
from podium.sandbox.spec import Frozen, SandboxSpec

DEFAULT = "bubblewrap"
BUILT_IN = {
    "bubblewrap": "podium.sandbox.linux.bubblewrap:Bubblewrap",
    "docker": "podium.sandbox.docker.docker_backend:Docker",
    "none": "podium.sandbox.none:NoSandbox",
}


class Capabilities(Frozen):
    """Capabilities of a backend on this machine."""

    sealed: bool
    """True if programs see only those parts of the host that the spec shows them."""
    network: Literal["own", "host", "always"]
    """Network when granted: the sandbox's own, or the host's; `always` is the host's, granted or not."""
    ports: bool
    """True if this process can listen on the loopback interface that programs see."""
    limits: dict[str, Enforcement]
    """Enforcement of each limit, by field name of `Limits`."""
    core_binding: bool
    """True if programs cannot leave the cores assigned to them."""
    gpus: bool
    pausing: bool = False
    """True if it can pause background programs."""
    home: str | None
    """Workspace path as programs see it; None if it is the same as on the host."""

    def has_network(self, spec: SandboxSpec) -> bool:
        """Return whether programs can reach more than their own loopback interface."""
        return bool(spec.network) or self.network == "always"

    def has_own_ports(self, spec: SandboxSpec) -> bool:
        """Return whether programs reach this process, and no other, at any port that it listens on."""
        return self.ports and (self.network == "own" or not self.has_network(spec))

    def home_of(self, spec: SandboxSpec) -> str:
        """Return the path of the spec's workspace as programs will see it."""
        assert self.home is not None or spec.workspace is not None, "the path of a temporary workspace is not known yet"
        return self.home or str(spec.workspace.absolute())  # type: ignore[union-attr]


class StartOptions(TypedDict, total=False):
    """Options for starting a program; each may be omitted."""

    stdin: bytes | None
    """Standard input; None for empty input."""
    cwd: str | None
    """Working directory."""
    environment: Mapping[str, str] | None
    """Environment variables in addition to the spec's."""
    cores: Sequence[int] | None
    """Cores that the program and its children are bound to; None for all."""
    background: bool
    """True if processes it leaves behind may run until the sandbox stops."""
    keep: Keep | None
    """Amount of output to keep."""


class Program(Protocol):
    """Running program. Its methods may be called from any thread."""

    def wait(self, timeout_s: float | None = None) -> ProgramResult:
        """Pass input and output on until the program has ended; kill it on timeout."""
        ...

    def kill(self, reason: str) -> None:
        """Kill the program and everything it started; `wait` then returns. Killing twice is fine."""
        ...

    def close(self) -> None:
        """Release the program; kill it if it is still running."""
        ...


class Sandbox(Protocol):
    """Open sandbox, from its start until `stop`. Its methods may be called from any thread."""

    @property
    def home(self) -> str:
        """Workspace path as programs see it; relative paths are relative to it."""
        ...

    @property
    def workspace(self) -> Path:
        """Workspace folder on the host."""
        ...

    @property
    def is_running(self) -> bool: ...

    def enforced(self) -> Policy:
        """Return the policy in force in this sandbox, as far as it can be determined; it does not change."""
        ...

    def run(
        self, command: Sequence[str], *, timeout_s: float | None = None, **options: Unpack[StartOptions]
    ) -> ProgramResult:
        """Start a program and wait for its end."""
        ...

    def start(self, command: Sequence[str], **options: Unpack[StartOptions]) -> Program:
        """Start a program.

        Args:
            command: program, looked up in PATH, and its arguments.

        Raises:
            SandboxGoneError: the sandbox has stopped.
        """
        ...

    def read(self, path: str, *, limit_bytes: int) -> bytes:
        """Return the content of a regular file: at most `limit_bytes`, plus one byte to show that there is more.

        Raises:
            OSError: as for `open`; links created by programs never lead to files that programs cannot read.
        """
        ...

    def write(self, path: str, data: bytes, *, append: bool = False) -> None:
        """Create, replace or append to a file, and create its parent folders."""
        ...

    def listen(self, port: int) -> socket.socket | None:
        """Return a socket that listens on a port of the programs' loopback interface, or None if it is unavailable."""
        ...

    def kill_all(self) -> None:
        """Kill every program in the sandbox; the sandbox stays open."""
        ...

    def stop(self) -> None:
        """Stop the sandbox and everything in it, and remove temporary files. Stopping twice is fine."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Backend(Protocol):
    """Kind of sandbox. Its class takes no arguments."""

    @property
    def name(self) -> str: ...

    def capabilities(self) -> Capabilities:
        """Return its capabilities on this machine.

        Raises:
            PodiumError: it cannot work on this machine; the message explains what to do about it.
        """
        ...

    def check(self, spec: SandboxSpec) -> None:
        """Reject a spec that cannot be opened, before anything is started.

        Raises:
            PodiumError: the reason.
        """
        ...

    def open(self, spec: SandboxSpec) -> Sandbox:
        """Start a sandbox.

        Raises:
            PodiumError: it cannot work on this machine, or cannot satisfy the spec.
        """
        ...


def backend_names() -> list[str]:
    """Return the names of all installed backends."""
    return sorted(plugins.offered("backends", BUILT_IN))


def find_backend(name: str) -> Backend:
    """Return the backend with a name, or the one at `package.module:Class`.

    Raises:
        UsageError: there is no such backend.
    """
    backend: Backend = plugins.find("backends", name, BUILT_IN)()
    return backend
