"""Open sandbox whose programs are run by `init.py`, the first process inside."""

from __future__ import annotations

import contextlib
import os
import resource
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self, TypeVar, Unpack

from podium.errors import PodiumError, SandboxGoneError
from podium.sandbox.backend import StartOptions
from podium.sandbox.linux import leftovers, workspace_files
from podium.sandbox.linux.control_socket import PATIENCE_S, Control, Ready, receive_ready, send_order
from podium.sandbox.linux.limits import cgroups, systemd_scope
from podium.sandbox.linux.limits.background import Background
from podium.sandbox.linux.limits.enforce_limits import KILL_PATIENCE_S, Guard
from podium.sandbox.linux.mounts import View
from podium.sandbox.linux.network import PROXY_PORT, Helper, start_proxy
from podium.sandbox.linux.supervised_program import SupervisedProgram, open_pipes
from podium.sandbox.policy import EnforcedLimit, Enforcement, Network, Policy
from podium.sandbox.program_result import Keep, ProgramResult
from podium.sandbox.spec import Limits, NetworkAccess, SandboxSpec

_OPEN_FILES = 1 << 16
T = TypeVar("T")


class InitProcess(Protocol):
    """First process of a sandbox."""

    channel: socket.socket
    """Our end of the control socket; messages on it carry credentials."""

    def is_running(self) -> bool: ...

    def wait(self, timeout_s: float) -> bool:
        """Wait for its end; return whether it has ended within the timeout."""
        ...

    def kill(self, pid: int | None) -> None:
        """Kill it and wait for its end; `pid` is the number it reported."""
        ...

    def messages(self) -> str:
        """Return its output, in case it did not start."""
        ...


@dataclass(frozen=True)
class Setup:
    """Configuration that a backend chooses for a sandbox before its first process starts."""

    backend: str
    engine: str
    sealed: bool
    home: str
    workspace: Path
    spec: SandboxSpec
    view: View
    enforcement: dict[str, Enforcement]
    """Enforcement of limits that no control group enforces."""
    network: NetworkAccess
    connect: Callable[[int, Path], Helper] | None = None
    """Function that connects the network namespace of a process, given a file for error messages; None if unneeded."""
    has_process_limit: bool = False
    """True if the user that programs run as is the sandbox's own, so that the kernel can count its processes."""
    make_group: Callable[[Limits, int], cgroups.Group] = systemd_scope.make_group


class SupervisedSandbox:
    """Open sandbox, from start to stop; a context manager. Its methods may be called from any thread."""

    def __init__(self, setup: Setup, launch: Callable[[Path], InitProcess]) -> None:
        """Start the sandbox.

        Args:
            launch: starts `init.py`, given a temporary folder of the sandbox's own.

        Raises:
            PodiumError: it does not start.
        """
        self._setup, self._limits = setup, setup.spec.limits.effective()
        self._open_files = open_files_of_programs()
        self._stopping = threading.Event()
        self._temporary = Path(tempfile.mkdtemp(prefix=leftovers.SANDBOX_PREFIX))
        self._claim = leftovers.claim(self._temporary)
        writable = (mount.source for mount in setup.view.mounts if mount.writable)
        self._guard = Guard(
            self._limits, [self._temporary, *writable], make_group=setup.make_group, kill_all=self.kill_all
        )
        try:
            self._process = launch(self._temporary)
        except BaseException:
            self._remove_temporary()
            raise
        self._control = Control(self._process.channel, self._reason_gone)
        self._background = Background(self._control, is_paused_when_idle=setup.spec.pauses_background)
        self._ready: Ready | None = None
        self._helper: Helper | None = None
        try:
            self._ready = self._await_start()
            self._status = _status(self._ready.pid)
            self._control.watch_this_process()
            self._helper = self._connect()
        except BaseException:
            self.stop()
            raise
        self._guard.start(self._ready.pid, self._background.exceeded)

    @property
    def home(self) -> str:
        return self._setup.home

    @property
    def workspace(self) -> Path:
        return self._setup.workspace

    @property
    def pid(self) -> int:
        """Process ID of the first process inside, on the host."""
        assert self._ready is not None
        return self._ready.pid

    @property
    def environment(self) -> dict[str, str]:
        return self._setup.view.environment

    @property
    def is_running(self) -> bool:
        return not self._stopping.is_set() and self._process.is_running()

    def enforced(self) -> Policy:
        setup, status = self._setup, self._status
        assert self._ready is not None
        namespaces = _own_namespaces(self._ready.text)
        return Policy(
            backend=setup.backend,
            engine=setup.engine,
            sealed=setup.sealed,
            home=setup.home,
            mounts=setup.view.mounts,
            hidden=tuple(setup.view.hidden),
            environment=setup.view.environment,
            network=_network("net" in namespaces, setup.network),
            hosts=setup.network if isinstance(setup.network, tuple) else (),
            gpus=setup.spec.gpus,
            limits=self._enforced_limits(),
            namespaces=namespaces,
            user_id=int(status["Uid"].split()[0]),
            no_new_privileges=status.get("NoNewPrivs") == "1",
            seccomp=status.get("Seccomp") == "2",
            pauses_background=setup.spec.pauses_background,
        )

    def _connect(self) -> Helper | None:
        """Start the process that serves the sandbox's network, if it needs one."""
        messages = self._temporary / "network-messages"
        if isinstance(self._setup.network, tuple):
            listener = self.listen(PROXY_PORT)
            assert listener is not None  # no other process is inside yet
            return start_proxy(listener, self._setup.network, messages)
        return None if self._setup.connect is None else self._setup.connect(self.pid, messages)

    def _enforced_limits(self) -> dict[str, EnforcedLimit]:
        groups = self._guard.by_kernel()
        held = {name for name, group in cgroups.CONTROLLERS.items() if group in groups}
        return {
            name: EnforcedLimit(
                value=value,
                enforcement="no" if value is None else "kernel" if name in held else self._setup.enforcement[name],
            )
            for name, value in self._limits
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _await_start(self) -> Ready:
        self._process.channel.settimeout(PATIENCE_S)
        try:
            ready = receive_ready(self._process.channel)
        except (TimeoutError, ConnectionError):
            ready = None
        if ready is None:
            reason = self._process.messages().strip() or "its first process ended without a message"
            raise PodiumError(f"The sandbox does not start: {reason}. Check this machine with: podium doctor")
        return ready

    def run(
        self, command: Sequence[str], *, timeout_s: float | None = None, **options: Unpack[StartOptions]
    ) -> ProgramResult:
        """Start a program and wait for its end."""
        return self.start(command, **options).wait(timeout_s)

    def start(
        self,
        command: Sequence[str],
        *,
        stdin: bytes | None = None,
        cwd: str | None = None,
        environment: Mapping[str, str] | None = None,
        cores: Sequence[int] | None = None,
        background: bool = False,
        keep: Keep | None = None,
    ) -> SupervisedProgram:
        """Start a program; see `StartOptions` for the arguments."""
        order = {
            "background": background,
            "program": {
                "command": list(command),
                "cwd": self._inside(cwd or ""),
                "environment": {**self.environment, **(environment or {})},
                "nice": os.getpriority(os.PRIO_PROCESS, 0),
                "limits": self._program_limits(),
            },
        }
        with contextlib.ExitStack() as ended:
            ended.callback(self._background.begin(leaves_something=background))
            program = self._with_room(lambda: self._start(order, stdin or b"", cores, keep or Keep()))
            program.on_close = ended.pop_all().close
        return program

    def _program_limits(self) -> dict[str, int]:
        limits = self._limits
        resource_limits = {
            # No file may be larger than what is left of the disk: with nothing left, programs can only delete.
            "RLIMIT_FSIZE": min(limits.file_bytes, self._guard.disk_bytes_left()),
            "RLIMIT_NOFILE": self._open_files,
            "RLIMIT_CORE": 0,
        }
        if self._setup.has_process_limit:
            resource_limits["RLIMIT_NPROC"] = limits.processes
        return resource_limits

    def _start(
        self, order: dict[str, object], stdin: bytes, cores: Sequence[int] | None, keep: Keep
    ) -> SupervisedProgram:
        with open_pipes() as (pipes, theirs):
            supervisor = self._control.start(theirs)
        program = SupervisedProgram(
            supervisor, pipes, stdin=stdin, keep=keep, guard=self._guard, kill_all=self.kill_all
        )
        try:
            ready = receive_ready(supervisor)
            if ready is None:
                raise self._control.gone()
            if cores is not None:
                os.sched_setaffinity(ready.pid, cores)
            send_order(supervisor, order)
        except BaseException as error:
            program.close()
            if isinstance(error, ConnectionError | TimeoutError | ProcessLookupError):
                raise self._control.gone() from error
            raise
        return program

    def open(self, path: str, flags: int = os.O_RDONLY, *, parents: bool = False) -> int:
        """Return a descriptor of a file as the sandbox sees it, with the permissions of the programs inside.

        Links are followed inside, so no path leads out. The file may be of any kind and is untrusted: check it with
        fstat before reading, and open nothing relative to an untrusted folder.

        Raises:
            OSError: as for `os.open`.
        """
        order = {"path": self._inside(path), "flags": flags, "parents": parents}
        return self._with_room(lambda: self._control.descriptor(b"o", order, name=path))

    def read(self, path: str, *, limit_bytes: int) -> bytes:
        """Return the content of a regular file: at most `limit_bytes`, plus one byte to show that there is more."""
        return workspace_files.read(self.open(path), path, limit_bytes=limit_bytes)

    def write(self, path: str, data: bytes, *, append: bool = False) -> None:
        """Create, replace or append to a file, and create its parent folders."""
        flags = os.O_WRONLY | os.O_CREAT | (os.O_APPEND if append else os.O_TRUNC)
        workspace_files.write(self.open(path, flags, parents=True), path, data)

    def listen(self, port: int) -> socket.socket | None:
        """Return a socket that listens on a port of the programs' loopback interface, or None if it is unavailable."""
        try:
            descriptor = self._with_room(lambda: self._control.descriptor(b"l", {"port": port}, name=f"port {port}"))
        except SandboxGoneError:
            raise
        except OSError:
            return None
        return socket.socket(fileno=descriptor)

    def kill_all(self) -> None:
        """Kill every program in the sandbox; the sandbox stays open."""
        self._control.kill_all()

    def stop(self) -> None:
        """Stop the sandbox and everything in it. Stopping twice is fine."""
        if self._stopping.is_set():
            return
        self._stopping.set()
        self._control.close()  # init ends, and with it everything inside
        if not self._process.wait(KILL_PATIENCE_S):
            self._process.kill(None if self._ready is None else self._ready.pid)
        if self._helper is not None:
            self._helper.stop()
        self._guard.stop()
        self._remove_temporary()
        if self._setup.spec.workspace is None:  # a temporary one
            leftovers.remove_best_effort(self.workspace)

    def _remove_temporary(self) -> None:
        leftovers.remove_best_effort(self._temporary)
        os.close(self._claim)

    def shell(self) -> list[str]:
        """Return a command that opens a shell inside for a person, free of the sandbox's limits and filter.

        Raises:
            NotImplementedError: without root, because no process is left in the user namespace that owns the others.
        """
        if self._setup.sealed and os.geteuid() != 0:
            raise NotImplementedError("Only root can open a shell in a sealed sandbox.")
        enter = ["nsenter", "--target", str(self.pid), "--all", "--preserve-credentials"] if self._setup.sealed else []
        variables = [f"{name}={value}" for name, value in self.environment.items()]
        return [*enter, "env", "-i", "-C", self.home, *variables, "TERM=xterm", "bash"]

    def _inside(self, path: str) -> str:
        return os.path.join(self.home, path)  # noqa: PTH118 (a path inside)

    def _reason_gone(self) -> str:
        return self._guard.violation or "it was stopped or ran out of processes"

    def _with_room(self, work: Callable[[], T]) -> T:
        """Return the result of a request; if background programs leave no room for its supervisor, kill them first."""
        try:
            return work()
        except SandboxGoneError:
            if not self.is_running:
                raise
            self.kill_all()
            return work()


@contextlib.contextmanager
def workspace_of(spec: SandboxSpec) -> Iterator[Path]:
    """Yield the workspace of a sandbox to be opened in the block; remove a temporary one if that fails."""
    workspace = spec.workspace or Path(tempfile.mkdtemp(prefix=leftovers.WORKSPACE_PREFIX))
    workspace.mkdir(parents=True, exist_ok=True)
    try:
        yield workspace
    except BaseException:
        if spec.workspace is None:
            leftovers.remove_best_effort(workspace)
        raise


def refuse_image(backend: str, spec: SandboxSpec) -> None:
    """Reject a spec with an image, for a backend without images.

    Raises:
        PodiumError: the spec has an image.
    """
    if spec.image is not None:
        raise PodiumError(f"The {backend} sandbox has no images. Omit the image {spec.image}, or use: --sandbox docker")


def _network(is_own: bool, requested: NetworkAccess) -> Network:
    if not is_own:
        return "host"
    return "hosts" if isinstance(requested, tuple) else "own" if requested else "none"


def _status(pid: int) -> dict[str, str]:
    """Return the fields of /proc/PID/status."""
    lines = Path(f"/proc/{pid}/status").read_text(errors="replace").splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def _own_namespaces(reported: str) -> tuple[str, ...]:
    """Return the namespace types that the first process of a sandbox does not share with the host."""
    ours = {str(path.readlink()) for path in Path("/proc/self/ns").iterdir()}
    return tuple(sorted({name.partition(":")[0] for name in reported.split() if name not in ours}))


def open_files_of_programs() -> int:
    """Return the maximum number of open files of a program, after raising this process's own limit to twice as many.

    Descriptors in flight through sockets are counted per user, and each sender is held to its own limit: a program
    with a limit as high as ours could keep us from passing any.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    requested = 2 * _OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, 2 * _OPEN_FILES)
    if soft != resource.RLIM_INFINITY and soft < requested:
        resource.setrlimit(resource.RLIMIT_NOFILE, (requested, hard))
    return requested // 2
