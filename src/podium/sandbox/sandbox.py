"""A running sandbox: one long-lived bubblewrap that programs, files and ports are asked of."""

from __future__ import annotations
import __future__

import contextlib
import errno
import fcntl
import marshal
import os
import resource
import selectors
import signal
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import MAGIC_NUMBER
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from podium.data.trees import remove_tree
from podium.errors import PodiumError, SandboxGoneError
from podium.sandbox import bubblewrap, cgroups, interpreter, leftovers, seccomp, warden
from podium.sandbox.output import Collector, Output
from podium.sandbox.policy import MIB, USER_ID, Policy
from podium.sandbox.watchdog import Watchdog

START_PATIENCE_S = 30.0
KILL_PATIENCE_S = 10.0
WATCH_INTERVAL_S, BOMB_INTERVAL_S = 0.2, 0.05
_LOOK_S = 1.0  # how often an execution looks whether another thread has ended it
_PIECE = 1 << 16
_OPEN_FILES = 1 << 16
_KERNEL_FILES = ("proc", "proc/sys", "sys/devices/system/cpu")
T = TypeVar("T")


@dataclass(frozen=True)
class Outcome:
    """How a program ended."""

    exit_code: int
    """As a shell reports it: 128 plus the signal for a killed program."""
    stdout: Output
    stderr: Output
    seconds: float
    stopped: str | None = None
    """Why Podium ended it ("time limit of 3 s"), or None if it ended by itself."""


@dataclass(frozen=True)
class Keep:
    """How much of each output stream is kept, from its beginning and from its end."""

    head_bytes: int = 1 * MIB
    tail_bytes: int = 1 * MIB


class Sandbox:
    """A sandbox from start to stop; a context manager. Its methods may be called from any thread."""

    def __init__(self, policy: Policy) -> None:
        """Starts it.

        Raises:
            PodiumError: bubblewrap is missing or not allowed to work here.
        """
        self.policy = policy
        self.violation: str | None = None
        self._violated_at = 0.0
        self._open_files = _open_files_of_programs()
        self._watchdog: Watchdog | None = None
        self._temporary = Path(tempfile.mkdtemp(prefix=leftovers.SANDBOX_PREFIX))
        self._claim = leftovers.claim(self._temporary)
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # Before anything is sent: a message without credentials would carry pid 0, which means ourselves.
        self._control.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self._sending = threading.Lock()
        self._stopping, self._guarded = threading.Event(), threading.Event()
        self._group = cgroups.Group({})
        self._guard = threading.Thread(target=self._watch, name="podium-watchdog", daemon=True)
        try:
            self._process = self._spawn(theirs)
        except BaseException:
            self._control.close()
            self._remove_temporary()
            raise
        self._first = 0
        try:
            self._first = self._await_start()
            self._kernel = _devices(Path(f"/proc/{self._first}/root"), _KERNEL_FILES)
        except BaseException:
            self.stop()
            raise
        self._guard.start()

    @property
    def pid(self) -> int:
        """The host's number of the first process inside."""
        return self._first

    @property
    def is_running(self) -> bool:
        return not self._stopping.is_set() and self._process.poll() is None

    @property
    def enforced(self) -> frozenset[str]:
        """The limits that the kernel holds ("memory", "pids"); the others are watched."""
        self._guarded.wait()
        return frozenset(self._group.folders)

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _spawn(self, theirs: socket.socket) -> subprocess.Popen[bytes]:
        files = {
            "passwd": f"agent:x:{USER_ID}:{USER_ID}::{self.policy.cwd}:/bin/sh\n",
            "group": f"agent:x:{USER_ID}:\n",
            "hosts": "127.0.0.1 localhost\n::1 localhost\n",
        }
        for name, text in files.items():
            (self._temporary / name).write_text(text)
        for name in ("tmp", "var-tmp"):
            (self._temporary / name).mkdir()
            (self._temporary / name).chmod(0o1777)
        (self._temporary / "seccomp").write_bytes(seccomp.program())
        python = Path(getattr(sys, "_base_executable", sys.executable)).resolve()
        mounts = tuple(dict.fromkeys([*interpreter.homes(python), *self.policy.mounts]))
        in_place = [mount.source for mount in mounts if str(mount.source) == mount.target]
        hidden = tuple(dict.fromkeys([*self.policy.hidden, *interpreter.traces(in_place)]))
        policy = self.policy.model_copy(update={"mounts": mounts, "hidden": hidden})
        compiled = self._temporary / "warden.pyc"
        compiled.write_bytes(_compiled_warden())
        options = bubblewrap.arguments(policy, self._temporary, warden=compiled)
        with contextlib.ExitStack() as opened:
            descriptors = [opened.enter_context(theirs).fileno(), *_own_process(opened)]
            channels = [str(descriptor) for descriptor in descriptors]
            command = [bubblewrap.find_bubblewrap()]
            for option in options:
                if isinstance(option, Path):
                    descriptors.append(opened.enter_context(option.open("rb")).fileno())
                    option = str(descriptors[-1])
                command.append(option)
            messages = opened.enter_context((self._temporary / "messages").open("wb"))
            return subprocess.Popen(
                [*command, "--", str(python), "-I", "-S", "-B", bubblewrap.WARDEN, *channels],
                pass_fds=descriptors,
                stdin=subprocess.DEVNULL,
                stdout=messages,
                stderr=messages,
                env={},
                cwd="/",  # bwrap tells it in PWD
                start_new_session=True,
            )

    def _await_start(self) -> int:
        """The host's pid of the warden."""
        self._control.settimeout(START_PATIENCE_S)
        try:
            pid = _receive_ready(self._control)
        except (TimeoutError, ConnectionError):
            pid = None
        if pid is None:
            said = (self._temporary / "messages").read_text(errors="replace").strip()
            raise PodiumError(
                f"the sandbox does not start: {said or 'bubblewrap ended without a word'}. "
                "`podium doctor` says what this machine can do."
            )
        return pid

    def run(
        self,
        command: Sequence[str],
        *,
        stdin: bytes | None = None,
        cwd: str | None = None,
        environment: Mapping[str, str] | None = None,
        timeout_s: float | None = None,
        cores: Sequence[int] | None = None,
        background: bool = False,
        keep: Keep | None = None,
    ) -> Outcome:
        """Runs a program to its end; see `start` for the arguments."""
        execution = self.start(
            command, stdin=stdin, cwd=cwd, environment=environment, cores=cores, background=background, keep=keep
        )
        return execution.wait(timeout_s)

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
    ) -> Execution:
        """Starts a program.

        Args:
            command: the program, looked up in PATH, and its arguments.
            stdin: what it reads; None for nothing.
            cwd: its folder, relative to the policy's.
            environment: variables beside the policy's.
            cores: the cores it and all it starts are bound to; None for all.
            background: whether what it leaves behind may go on until the sandbox stops.
            keep: how much of its output is kept.

        Raises:
            SandboxGoneError: the sandbox has stopped.
        """
        self._guarded.wait()
        limits = self.policy.limits
        # Over its share of the disk, a program may only delete.
        is_full = self._watchdog is not None and self._watchdog.is_disk_full()
        order = {
            "background": background,
            "program": {
                "command": list(command),
                "cwd": os.path.join(self.policy.cwd, cwd or ""),  # noqa: PTH118 (a path inside)
                "environment": {**self.policy.environment, **(environment or {})},
                "nice": os.getpriority(os.PRIO_PROCESS, 0),
                "limits": {
                    "RLIMIT_FSIZE": 0 if is_full else limits.file_bytes,
                    "RLIMIT_NPROC": limits.processes,
                    "RLIMIT_NOFILE": self._open_files,
                    "RLIMIT_CORE": 0,
                },
            },
        }
        return self._with_room(lambda: self._start(order, stdin or b"", cores, keep or Keep()))

    def _start(self, order: dict[str, object], stdin: bytes, cores: Sequence[int] | None, keep: Keep) -> Execution:
        with contextlib.ExitStack() as theirs:
            in_read, in_write = _pipe_ends(theirs, ours="write")
            out_read, out_write = _pipe_ends(theirs, ours="read")
            error_read, error_write = _pipe_ends(theirs, ours="read")
            keeper = self._request(b"x", [in_read, out_write, error_write])
        execution = Execution(self, keeper, stdin, in_write, out_read, error_read, keep)
        try:
            pid = _receive_ready(keeper)
            if pid is None:
                raise SandboxGoneError(self._reason_gone())
            if cores is not None:
                os.sched_setaffinity(pid, cores)
            _send_order(keeper, order)
        except BaseException as error:
            execution.close()
            if isinstance(error, ConnectionError | TimeoutError | ProcessLookupError):
                raise SandboxGoneError(self._reason_gone()) from error
            raise
        return execution

    def open(self, path: str, flags: int = os.O_RDONLY, *, parents: bool = False) -> int:
        """A descriptor of a file as the sandbox sees it, with the rights of the programs inside.

        Links are followed inside, so no path can lead out. The file may be of any kind and belongs to somebody
        hostile: look at it with fstat before reading, and open nothing relative to a folder of theirs.

        Raises:
            OSError: as `os.open` would.
        """
        absolute = os.path.join(self.policy.cwd, path)  # noqa: PTH118
        return self._ask(b"o", {"path": absolute, "flags": flags, "parents": parents}, name=path)

    def read(self, path: str, *, limit_bytes: int) -> bytes:
        """The content of a regular file, at most `limit_bytes` of it and one more byte to show that there is more."""
        descriptor = self.open(path)
        try:
            self._require_regular(descriptor, path)
            data = bytearray()
            while len(data) <= limit_bytes and (piece := os.read(descriptor, min(MIB, limit_bytes + 1 - len(data)))):
                data += piece
            return bytes(data)
        finally:
            os.close(descriptor)

    def write(self, path: str, data: bytes, *, append: bool = False) -> None:
        """Makes or replaces (or lengthens) a file, and the folders above it."""
        flags = os.O_WRONLY | os.O_CREAT | (os.O_APPEND if append else os.O_TRUNC)
        with open(self.open(path, flags, parents=True), "wb", buffering=0) as file:  # noqa: PTH123
            self._require_regular(file.fileno(), path)
            view = memoryview(data)
            while view:
                view = view[file.write(view) :]

    def _require_regular(self, descriptor: int, path: str) -> None:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, "Is a directory", path)
        # Files of the kernel answer and obey whoever reads and writes them, wherever they were opened: us.
        if not stat.S_ISREG(status.st_mode) or status.st_dev in self._kernel:
            raise OSError(errno.EINVAL, "Not a regular file", path)

    def listen(self, port: int) -> socket.socket:
        """A socket of this process that takes connections to a port of the sandbox's own loopback."""
        return socket.socket(fileno=self._ask(b"l", {"port": port}, name=f"port {port}"))

    def kill_all(self) -> None:
        """Ends every program in the sandbox; the sandbox stays."""
        with contextlib.suppress(OSError), self._sending:
            self._control.send(b"k")

    def stop(self) -> None:
        """Ends the sandbox and everything in it. Stopping twice is fine."""
        if self._stopping.is_set():
            return
        self._stopping.set()
        self._control.close()  # the warden ends, and the kernel ends what is in its namespace
        try:
            self._process.wait(KILL_PATIENCE_S)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._first or self._process.pid, signal.SIGKILL)
            self._process.wait()
        if self._guard.is_alive():
            self._guard.join()
        self._group.remove()
        self._remove_temporary()

    def _remove_temporary(self) -> None:
        with contextlib.suppress(OSError):
            remove_tree(self._temporary)
        os.close(self._claim)

    def _watch(self) -> None:
        """Holds the sandbox to its limits. In a thread, because joining a control group takes the kernel long."""
        limits = self.policy.limits
        folders = [self._temporary, *(mount.source for mount in self.policy.mounts if mount.writable)]
        try:
            self._group = cgroups.make_group(limits, self._first)
            leftovers.note_groups(self._temporary, self._group.folders.values())
            self._watchdog = watchdog = Watchdog(self._first, limits, folders, enforced=self._group.folders)
        finally:
            self._guarded.set()
        threading.Thread(target=leftovers.remove_abandoned, name="podium-leftovers", daemon=True).start()
        is_unbounded = os.getuid() == 0 and "pids" not in self._group.folders  # RLIMIT_NPROC does not hold for root
        if is_unbounded:
            _go_first(self._first, threading.get_native_id())
        while not self._stopping.wait(BOMB_INTERVAL_S if is_unbounded else WATCH_INTERVAL_S):
            reason = watchdog.exceeded()
            if reason is not None:
                self.violation, self._violated_at = reason, time.monotonic()
                self.kill_all()

    def _reason_gone(self) -> str:
        return f"the sandbox is gone ({self.violation or 'it has been stopped or ran out of processes'})"

    def _request(self, kind: bytes, descriptors: Sequence[int]) -> socket.socket:
        """Sends a request; our end of the socket that belongs to it."""
        ours, theirs = socket.socketpair()
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, int(kind == b"x"))
        ours.settimeout(START_PATIENCE_S)
        try:
            with theirs, self._sending:
                socket.send_fds(self._control, [kind], [theirs.fileno(), *descriptors])
        except OSError as error:
            ours.close()
            if error.errno in (errno.EPIPE, errno.ECONNRESET, errno.EBADF):
                raise SandboxGoneError(self._reason_gone()) from error
            raise
        return ours

    def _with_room(self, work: Callable[[], T]) -> T:
        """What a request gives. Where programs left behind leave no room for its keeper, they are killed."""
        try:
            return work()
        except SandboxGoneError:
            if not self.is_running:
                raise
            self.kill_all()
            return work()

    def _ask(self, kind: bytes, order: dict[str, object], *, name: str) -> int:
        return self._with_room(lambda: self._ask_once(kind, order, name=name))

    def _ask_once(self, kind: bytes, order: dict[str, object], *, name: str) -> int:
        with self._request(kind, []) as keeper:
            try:
                _send_order(keeper, order)
                answer, descriptors, _, _ = socket.recv_fds(keeper, 4, 1)
            except OSError as error:
                raise SandboxGoneError(self._reason_gone()) from error
        if len(answer) < 4:
            raise SandboxGoneError(self._reason_gone())
        code = int.from_bytes(answer, "little")
        if code:
            raise OSError(code, os.strerror(code), name)
        os.set_inheritable(descriptors[0], False)
        return int(descriptors[0])


class Execution:
    """A program that was started."""

    def __init__(
        self, sandbox: Sandbox, keeper: socket.socket, stdin: bytes, in_write: int, out_read: int, error_read: int,
        keep: Keep,
    ) -> None:  # fmt: skip
        self._sandbox, self._keeper = sandbox, keeper
        self._started = time.monotonic()
        self._stopped: str | None = None
        self._killed_at: float | None = None
        self._pending = memoryview(stdin)
        self._input, self._streams = in_write, (out_read, error_read)
        self._collectors = {
            stream: Collector(head_bytes=keep.head_bytes, tail_bytes=keep.tail_bytes) for stream in self._streams
        }
        self._memory_kills = sandbox._group.memory_kills()

    def kill(self, reason: str) -> None:
        """Ends the program and everything it started; `wait` then returns. From any thread, any number of times."""
        self._stopped = self._stopped or reason
        self._killed_at = self._killed_at or time.monotonic()
        with contextlib.suppress(OSError):
            self._keeper.send(b"k")

    def wait(self, timeout_s: float | None = None) -> Outcome:
        """Passes input and output on until the program has ended, or ends it when its time is up."""
        try:
            # Not epoll, of which a user has only so many registrations: programs inside could use them up.
            with selectors.PollSelector() as selector:
                code = self._pump(selector, timeout_s)
        finally:
            self.close()
        stdout, stderr = (self._collectors[stream].output() for stream in self._streams)
        if code is None:  # its keeper was killed: by the watchdog, by the program, or with the whole sandbox
            code = 137
            violation = self._sandbox.violation if self._sandbox._violated_at >= self._started else None
            self._stopped = self._stopped or violation or "killed together with its keeper"
        if self._sandbox._group.memory_kills() > self._memory_kills:
            self._stopped = self._stopped or "memory limit exceeded"
        return Outcome(code, stdout, stderr, time.monotonic() - self._started, self._stopped)

    def close(self) -> None:
        """Lets go of the program; if it still runs it is killed."""
        for descriptor in (self._input, *self._streams) if self._keeper.fileno() >= 0 else ():
            with contextlib.suppress(OSError):
                os.close(descriptor)
        self._keeper.close()

    def _pump(self, selector: selectors.BaseSelector, timeout_s: float | None) -> int | None:
        deadline = None if timeout_s is None else self._started + timeout_s
        for stream in self._streams:
            os.set_blocking(stream, False)
            selector.register(stream, selectors.EVENT_READ)
        selector.register(self._keeper, selectors.EVENT_READ)
        os.set_blocking(self._input, False)
        selector.register(self._input, selectors.EVENT_WRITE)
        self._feed(selector)
        while True:
            now = time.monotonic()
            if deadline is not None and now >= deadline and self._killed_at is None:
                self.kill(f"time limit of {timeout_s:g} s")
            if self._killed_at is not None and now >= self._killed_at + KILL_PATIENCE_S:
                self._sandbox.kill_all()  # its keeper did not manage
                return None
            is_waiting = deadline is not None and self._killed_at is None
            for key, _ in selector.select(min(_LOOK_S, deadline - now) if deadline and is_waiting else _LOOK_S):
                if key.fileobj is self._keeper:
                    return self._end()
                if key.fd == self._input:
                    self._feed(selector)
                elif not self._take(key.fd):
                    selector.unregister(key.fd)

    def _end(self) -> int | None:
        """The exit code, after a last look into the pipes: programs left in the background may hold them open."""
        try:
            answer = self._keeper.recv(4)
        except OSError:
            answer = b""
        for stream in self._streams:
            # No more than is in them now: what still runs may write without end.
            waiting = int(struct.unpack("i", fcntl.ioctl(stream, termios.FIONREAD, bytes(4)))[0])
            while waiting > 0 and (taken := self._take(stream)):
                waiting -= taken
        return int.from_bytes(answer, "little") if len(answer) == 4 else None

    def _feed(self, selector: selectors.BaseSelector) -> None:
        try:
            while self._pending:
                self._pending = self._pending[os.write(self._input, self._pending[:_PIECE]) :]
        except BlockingIOError:
            return
        except BrokenPipeError:  # the program does not want it
            pass
        selector.unregister(self._input)
        os.close(self._input)
        self._input = -1

    def _take(self, stream: int) -> int:
        """Reads a piece; its size, 0 at the end."""
        try:
            piece = os.read(stream, _PIECE)
        except OSError:
            return 0
        self._collectors[stream].add(piece)
        return len(piece)


def _go_first(*tasks: int) -> None:
    """Lets those who have to stop a fork bomb run before it."""
    for task in tasks:
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, task, os.getpriority(os.PRIO_PROCESS, 0) - 10)


def _devices(root: Path, names: Iterable[str]) -> set[int]:
    found = set()
    for name in names:
        with contextlib.suppress(OSError):
            found.add((root / name).stat().st_dev)
    return found


def _open_files_of_programs() -> int:
    """How many files a program may have open, after this process has been allowed twice as many.

    Descriptors on their way through sockets are counted per user, and each sender held to its own limit: a program with
    one as high as ours could keep us from passing any.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * _OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, 2 * _OPEN_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return wanted // 2


def _own_process(opened: contextlib.ExitStack) -> list[int]:
    """A descriptor that tells the end of this process, where the kernel has such a thing."""
    try:
        descriptor = os.pidfd_open(os.getpid())
    except OSError:
        return []
    opened.callback(os.close, descriptor)
    return [descriptor]


@cache
def _compiled_warden() -> bytes:
    """The warden as a file of bytecode for the interpreter we run on: compiling it would take half of its start."""
    source = Path(warden.__file__).read_bytes()
    flags_time_and_size = bytes(12)
    without_types = __future__.annotations.compiler_flag
    code = compile(source, bubblewrap.WARDEN, "exec", flags=without_types, dont_inherit=True)
    return MAGIC_NUMBER + flags_time_and_size + marshal.dumps(code)


def _pipe_ends(theirs: contextlib.ExitStack, *, ours: str) -> tuple[int, int]:
    """A pipe whose other end is closed with the stack."""
    read, write = os.pipe()
    theirs.callback(os.close, read if ours == "write" else write)
    return read, write


def _send_order(keeper: socket.socket, order: dict[str, object]) -> None:
    body = marshal.dumps(order, 2)
    keeper.sendall(len(body).to_bytes(4, "little") + body)


def _receive_ready(channel: socket.socket) -> int | None:
    """The pid, as this side sees it, of the process that reported; None if it has gone."""
    message, ancillary, _, _ = channel.recvmsg(1, socket.CMSG_SPACE(12))
    if not message:
        return None
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_CREDENTIALS:
            return int(struct.unpack("3i", data)[0]) or None
    return None
