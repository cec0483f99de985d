"""Program in a sandbox, run by one of our supervisors."""

from __future__ import annotations

import contextlib
import fcntl
import os
import selectors
import socket
import struct
import termios
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from podium.sandbox.linux.limits.enforce_limits import KILL_PATIENCE_S, Guard
from podium.sandbox.program_result import Collector, Keep, ProgramResult

_POLL_S = 1.0  # a program may have been ended by another thread
_PIECE = 1 << 16


@dataclass(frozen=True)
class Pipes:
    """Our ends of a program's streams."""

    stdin: int
    stdout: int
    stderr: int


@contextlib.contextmanager
def open_pipes() -> Iterator[tuple[Pipes, list[int]]]:
    """Yield our ends, and for the duration of the block theirs. Ours are closed too if the block fails."""
    with contextlib.ExitStack() as kept, contextlib.ExitStack() as lent:
        ours, theirs = [], []
        for is_input in (True, False, False):
            read, write = os.pipe()
            our, their = (write, read) if is_input else (read, write)
            kept.callback(os.close, our)
            lent.callback(os.close, their)
            ours.append(our)
            theirs.append(their)
        yield Pipes(*ours), theirs
        kept.pop_all()


class SupervisedProgram:
    """Running program below a supervisor."""

    def __init__(
        self,
        supervisor: socket.socket,
        pipes: Pipes,
        *,
        stdin: bytes,
        keep: Keep,
        guard: Guard,
        kill_all: Callable[[], None],
    ) -> None:
        self._supervisor, self._guard, self._kill_all = supervisor, guard, kill_all
        self._started = time.monotonic()
        self._stopped: str | None = None
        self._killed_at: float | None = None
        self._pending = memoryview(stdin)
        self._input, self._streams = pipes.stdin, (pipes.stdout, pipes.stderr)
        self._collectors = {stream: Collector(keep) for stream in self._streams}
        self._memory_kills = guard.memory_kills()
        self.on_close: Callable[[], None] = lambda: None
        """Called after the program has been released, possibly more than once."""

    def kill(self, reason: str) -> None:
        """Kill the program and everything it started; `wait` then returns. Works from any thread, and repeatedly."""
        self._stopped = self._stopped or reason
        self._killed_at = self._killed_at or time.monotonic()
        with contextlib.suppress(OSError):
            self._supervisor.send(b"k")

    def wait(self, timeout_s: float | None = None) -> ProgramResult:
        """Pass input and output on until the program has ended; kill it on timeout."""
        try:
            # Not epoll: each user has a limited number of registrations, which programs inside could use up.
            with selectors.PollSelector() as selector:
                code = self._pump(selector, timeout_s)
        finally:
            self.close()
        stdout, stderr = (self._collectors[stream].output() for stream in self._streams)
        if code is None:  # its supervisor was killed: by the guard, by the program, or with the whole sandbox
            code = 137
            violation = self._guard.violation_since(self._started)
            self._stopped = self._stopped or violation or "killed together with its supervisor"
        if self._guard.memory_kills() > self._memory_kills:
            self._stopped = self._stopped or "memory limit exceeded"
        return ProgramResult(code, stdout, stderr, time.monotonic() - self._started, self._stopped)

    def close(self) -> None:
        """Release the program; kill it if it is still running."""
        for descriptor in (self._input, *self._streams) if self._supervisor.fileno() >= 0 else ():
            with contextlib.suppress(OSError):
                os.close(descriptor)
        self._supervisor.close()
        self.on_close()

    def _pump(self, selector: selectors.BaseSelector, timeout_s: float | None) -> int | None:
        deadline = None if timeout_s is None else self._started + timeout_s
        for stream in self._streams:
            os.set_blocking(stream, False)
            selector.register(stream, selectors.EVENT_READ)
        selector.register(self._supervisor, selectors.EVENT_READ)
        os.set_blocking(self._input, False)
        selector.register(self._input, selectors.EVENT_WRITE)
        self._feed(selector)
        while True:
            now = time.monotonic()
            if deadline is not None and now >= deadline and self._killed_at is None:
                self.kill(f"time limit of {timeout_s:g} s")
            if self._killed_at is not None and now >= self._killed_at + KILL_PATIENCE_S:
                self._kill_all()  # its supervisor failed to do so
                return None
            is_waiting = deadline is not None and self._killed_at is None
            for key, _ in selector.select(min(_POLL_S, deadline - now) if deadline and is_waiting else _POLL_S):
                if key.fileobj is self._supervisor:
                    return self._end()
                if key.fd == self._input:
                    self._feed(selector)
                elif not self._take(key.fd):
                    selector.unregister(key.fd)

    def _end(self) -> int | None:
        """Return the exit code, after draining the pipes: background programs may hold them open."""
        try:
            answer = self._supervisor.recv(4)
        except OSError:
            answer = b""
        for stream in self._streams:
            # Only as much as they contain now: programs still running may write without end.
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
        except BrokenPipeError:  # the program does not read it
            pass
        selector.unregister(self._input)
        os.close(self._input)
        self._input = -1

    def _take(self, stream: int) -> int:
        """Read a chunk and return its size, 0 at the end."""
        try:
            piece = os.read(stream, _PIECE)
        except OSError:
            return 0
        self._collectors[stream].add(piece)
        return len(piece)
