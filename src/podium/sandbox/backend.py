"""The seam between Podium and whatever runs an agent's programs: `Backend` opens a `Sandbox`, which runs a `Program`.

A package adds a backend by naming a class of its own in the entry-point group `podium.backends`; `conformance.check`
says whether it keeps what is promised here.
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
    """What a backend can do on this machine."""

    sealed: bool
    """Whether programs see nothing of the host but what the spec shows them."""
    network: Literal["own", "host", "always"]
    """What a granted network is: one of the sandbox's own, or the host's; `always` the host's, granted or not."""
    ports: bool
    """Whether this process can listen on the loopback that programs inside see."""
    limits: dict[str, Enforcement]
    """How each limit is held, by the names of the fields of `Limits`."""
    core_binding: bool
    """Whether programs stay on the cores they were given."""
    gpus: bool
    pausing: bool = False
    """Whether it can pause what programs leave behind."""
    home: str | None
    """The workspace as programs see it; None where that is its own path on the host."""

    def has_network(self, spec: SandboxSpec) -> bool:
        """Whether programs can reach more than their own loopback."""
        return bool(spec.network) or self.network == "always"

    def has_own_ports(self, spec: SandboxSpec) -> bool:
        """Whether programs reach this process, and nobody else, at any port that it listens on."""
        return self.ports and (self.network == "own" or not self.has_network(spec))

    def home_of(self, spec: SandboxSpec) -> str:
        """Where programs will see a workspace that is given."""
        assert self.home is not None or spec.workspace is not None, "where a temporary workspace will be is not known"
        return self.home or str(spec.workspace.absolute())  # type: ignore[union-attr]


class StartOptions(TypedDict, total=False):
    """How a program is started; each may be left out."""

    stdin: bytes | None
    """What it reads; None for nothing."""
    cwd: str | None
    """Its folder."""
    environment: Mapping[str, str] | None
    """Variables beside the spec's."""
    cores: Sequence[int] | None
    """The cores it and all it starts are bound to; None for all."""
    background: bool
    """Whether what it leaves behind may go on until the sandbox stops."""
    keep: Keep | None
    """How much of its output is kept."""


class Program(Protocol):
    """A program that was started. Its methods may be called from any thread."""

    def wait(self, timeout_s: float | None = None) -> ProgramResult:
        """Passes input and output on until the program has ended, or ends it when its time is up."""
        ...

    def kill(self, reason: str) -> None:
        """Ends the program and everything it started; `wait` then returns. Killing twice is fine."""
        ...

    def close(self) -> None:
        """Lets go of the program; if it still runs it is killed."""
        ...


class Sandbox(Protocol):
    """An open sandbox, from its start until `stop`. Its methods may be called from any thread."""

    @property
    def home(self) -> str:
        """The workspace as programs see it; relative paths are relative to it."""
        ...

    @property
    def workspace(self) -> Path:
        """The same folder on the host."""
        ...

    @property
    def is_running(self) -> bool: ...

    def enforced(self) -> Policy:
        """What holds in this sandbox, as far as that can be found out; it does not change."""
        ...

    def run(
        self, command: Sequence[str], *, timeout_s: float | None = None, **options: Unpack[StartOptions]
    ) -> ProgramResult:
        """Starts a program and waits for its end."""
        ...

    def start(self, command: Sequence[str], **options: Unpack[StartOptions]) -> Program:
        """Starts a program.

        Args:
            command: the program, looked up in PATH, and its arguments.

        Raises:
            SandboxGoneError: the sandbox has stopped.
        """
        ...

    def read(self, path: str, *, limit_bytes: int) -> bytes:
        """The content of a regular file, at most `limit_bytes` of it and one more byte to show that there is more.

        Raises:
            OSError: as `open` would; no link of a program's making leads to what the program could not have read.
        """
        ...

    def write(self, path: str, data: bytes, *, append: bool = False) -> None:
        """Makes or replaces (or lengthens) a file, and the folders above it."""
        ...

    def listen(self, port: int) -> socket.socket | None:
        """A socket that takes connections to a port of the loopback that programs see; None if it cannot be had."""
        ...

    def kill_all(self) -> None:
        """Ends every program in the sandbox; the sandbox stays."""
        ...

    def stop(self) -> None:
        """Ends the sandbox and everything in it, and removes what was temporary. Stopping twice is fine."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Backend(Protocol):
    """A kind of sandbox. It is made without arguments."""

    @property
    def name(self) -> str: ...

    def capabilities(self) -> Capabilities:
        """What it can do here.

        Raises:
            PodiumError: it cannot work on this machine; the message says what to do about it.
        """
        ...

    def check(self, spec: SandboxSpec) -> None:
        """Refuses a spec that cannot be opened, before anything is started.

        Raises:
            PodiumError: why.
        """
        ...

    def open(self, spec: SandboxSpec) -> Sandbox:
        """Starts a sandbox.

        Raises:
            PodiumError: it cannot work on this machine, or not as it is asked to.
        """
        ...


def backend_names() -> list[str]:
    """All backends that are installed."""
    return sorted(plugins.offered("backends", BUILT_IN))


def find_backend(name: str) -> Backend:
    """The backend of a name, or at `package.module:Class`.

    Raises:
        UsageError: there is none.
    """
    backend: Backend = plugins.find("backends", name, BUILT_IN)()
    return backend
