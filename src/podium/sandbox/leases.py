"""Leases: executions take cores and GPUs from the machine's pool, in the order they come, and give them back.

A pool is a folder that any number of processes share; there is no server. In it lie
- `lock`: whoever reads or changes the queue holds a flock on it, for some tenths of a millisecond;
- `queue.json`: all claims in the order they came, each with what it wants and what it has been given;
- `N.claim`: a named pipe that the process behind claim N keeps open and flocked for as long as it waits or holds.

Giving back, giving up and dying are one and the same: the pipe is closed, the kernel drops its flock and hangs it up.
The first in the queue watches the pipes of all holders, every other one that of the waiter before it. Whoever sees a
pipe hang up strikes out the dead, grants what is free to those it is due to, and writes a byte into their pipes.
So nobody polls, one waiter wakes up for each release, and nothing is left to clean up after a kill -9.
"""

from __future__ import annotations

import fcntl
import io
import json
import os
import re
import select
import stat
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import overload
from weakref import WeakSet

from podium.errors import PodiumError, UsageError

LOOK_S = 1.0
"""A waiter looks again after this long even if nothing was heard: whoever should have told it may have been killed."""
LOCKED_S = 0.001
"""The time between two attempts to lock the queue."""
STOP_S = 0.05
"""How often a waiting thread asks whether it should give up."""

Pair = tuple[int, int]
"""Something about cores, and the same about GPUs: how many, or which ones, as a set of bits."""


@dataclass(frozen=True)
class Claim:
    """Somebody who holds, or waits for, a share of the pool."""

    number: int
    """Its place in the order of arrival."""
    pid: int
    name: str
    wants: Pair
    """How many it asks for."""
    among: Pair
    """Those it may be given, as bits."""
    has: Pair = (0, 0)
    """Those it has been given, as bits."""

    @property
    def is_waiting(self) -> bool:
        return self.has == (0, 0)

    @property
    def cores(self) -> tuple[int, ...]:
        """The cores it holds."""
        return _numbers(self.has[0])

    @property
    def gpus(self) -> tuple[int, ...]:
        """The GPUs it holds."""
        return _numbers(self.has[1])


class Lease:
    """Cores and GPUs that are nobody else's until they are released, or this process ends."""

    def __init__(self, claim: Claim, ticket: _Ticket, waited_s: float) -> None:
        self.cores, self.gpus = claim.cores, claim.gpus
        self.waited_s = waited_s
        """Time spent waiting for it, which is no working time of the agent."""
        self._ticket = ticket

    def release(self) -> None:
        """Gives everything back; a second time does nothing."""
        self._ticket.close()

    def __enter__(self) -> Lease:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


class Pool:
    """The cores and GPUs that all processes using the same folder share."""

    def __init__(self, folder: Path | str, cores: Iterable[int], gpus: Iterable[int] = ()) -> None:
        """Opens the pool, making its folder if need be. Processes may differ in which cores and GPUs they can use.

        Raises:
            PodiumError: the folder is not a private one of this user's.
        """
        self.folder = Path(folder)
        self.cores, self.gpus = tuple(sorted(set(cores))), tuple(sorted(set(gpus)))
        _make_private(self.folder)

    @overload
    def take(self, cores: int = 1, gpus: int = 0, *, name: str = "", stop: None = None) -> Lease: ...
    @overload
    def take(self, cores: int = 1, gpus: int = 0, *, name: str = "", stop: threading.Event) -> Lease | None: ...
    def take(
        self, cores: int = 1, gpus: int = 0, *, name: str = "", stop: threading.Event | None = None
    ) -> Lease | None:
        """Waits until so many cores and GPUs are free and it is our turn, or until `stop` is set, which gives None.

        Whoever holds a lease and takes another one can wait for himself.

        Raises:
            UsageError: the pool does not have so many.
        """
        ticket, started = self._ticket(cores, gpus, name), time.monotonic()
        try:
            while (pause_s := ticket.look()) is not None:
                if not ticket.wait(pause_s, stop):
                    ticket.close()
                    return None
        except BaseException:
            ticket.close()
            raise
        return Lease(ticket.claim, ticket, time.monotonic() - started)

    @asynccontextmanager
    async def lease(self, cores: int = 1, gpus: int = 0, *, name: str = "") -> AsyncIterator[Lease]:
        """`take` for anyio: waits without holding up the event loop, and a cancelled scope waits or holds no more."""
        import anyio

        ticket, started = self._ticket(cores, gpus, name), time.monotonic()
        try:
            while (pause_s := ticket.look()) is not None:
                with anyio.move_on_after(pause_s):
                    await anyio.wait_readable(ticket.fileno())
            yield Lease(ticket.claim, ticket, time.monotonic() - started)
        finally:
            ticket.close()

    def holders(self) -> list[Claim]:
        """Everyone alive who holds or waits for something, in the order they came."""
        alive = []
        for claim in _Queue.read(self.folder).claims:
            if (pipe := _open_alive(_pipe(self.folder, claim.number))) is not None:
                os.close(pipe)
                alive.append(claim)
        return alive

    def _ticket(self, cores: int, gpus: int, name: str) -> _Ticket:
        if min(cores, gpus) < 0 or not cores + gpus:
            raise UsageError(f"A lease is of one core or GPU at least, not of {_count(cores, gpus)}.")
        if cores > len(self.cores) or gpus > len(self.gpus):
            there = _count(len(self.cores), len(self.gpus))
            raise UsageError(f"{_count(cores, gpus)} cannot be leased at once: the pool has {there}. Ask for less.")
        among = (_bits(self.cores), _bits(self.gpus))
        return _Ticket(self.folder, Claim(0, os.getpid(), name, (cores, gpus), among))


def default_pool() -> Pool:
    """All cores and GPUs that this process may use, in the pool of this machine and user."""
    # Not in XDG_RUNTIME_DIR: that goes when the last session is closed, while runs in the background go on, and jobs
    # started by cron have none. Two folders would be two pools, and every core would be leased twice.
    folder = Path(tempfile.gettempdir()) / f"podium-leases-{os.geteuid()}"
    return Pool(folder, os.sched_getaffinity(0), visible_gpus(_devices(), os.environ.get("CUDA_VISIBLE_DEVICES")))


def visible_gpus(devices: Sequence[tuple[int, str]], setting: str | None) -> tuple[int, ...]:
    """The numbers of those devices (number, UUID) that a CUDA_VISIBLE_DEVICES of this value leaves visible."""
    if setting is None:
        return tuple(number for number, _ in devices)
    visible = []
    for word in filter(None, map(str.strip, setting.split(","))):
        if word.isdecimal():
            found = [number for number, _ in devices[int(word) : int(word) + 1]]
        else:
            found = [number for number, uuid in devices if uuid.startswith(word)]
        if len(found) != 1:
            break  # as CUDA does: nothing from the first wrong word on is visible
        visible += found
    return tuple(dict.fromkeys(visible))


def grant(claims: Iterable[Claim]) -> list[Claim]:
    """The claims, in the order they came, with everything given out that can be.

    A claim that cannot be met yet keeps what is free of its needs for itself. So a later one overtakes it only with
    what it will not need, and a claim for many cores gets them as they fall free.
    """
    claims = list(claims)
    barred = [0, 0]
    for claim in claims:
        for kind in (0, 1):
            barred[kind] |= claim.has[kind]
    for index, claim in enumerate(claims):
        if not claim.is_waiting:
            continue
        cores, gpus = (_lowest(claim.among[kind] & ~barred[kind], claim.wants[kind]) for kind in (0, 1))
        if (cores.bit_count(), gpus.bit_count()) == claim.wants:
            claims[index] = replace(claim, has=(cores, gpus))
        barred = [barred[0] | cores, barred[1] | gpus]
    return claims


def watches(claims: Sequence[Claim]) -> dict[int, set[int]]:
    """Whom each waiter watches: the first one all holders, every other one the waiter before it."""
    waiters = [claim.number for claim in claims if claim.is_waiting]
    watched = {later: {earlier} for earlier, later in pairwise(waiters)}
    for first in waiters[:1]:
        watched[first] = {claim.number for claim in claims if not claim.is_waiting}
    return watched


@dataclass(frozen=True)
class _Queue:
    """What `queue.json` says."""

    upcoming: int
    """The number of the next claim."""
    claims: list[Claim]

    @classmethod
    def read(cls, folder: Path) -> _Queue:
        try:
            document = json.loads((folder / "queue.json").read_bytes())
            claims = [
                Claim(number, pid, name, tuple(wants), tuple(among), tuple(has))
                for number, pid, name, wants, among, has in document["claims"]
            ]
            return cls(document["next"], claims)
        except (FileNotFoundError, ValueError):  # the second after a power cut, which no claim has survived
            return cls(1, [])

    def write(self, folder: Path) -> None:
        rows = [(it.number, it.pid, it.name, it.wants, it.among, it.has) for it in self.claims]
        path = folder / "queue.new"
        path.write_text(json.dumps({"next": self.upcoming, "claims": rows}), encoding="utf-8")
        path.replace(folder / "queue.json")


class _Ticket:
    """A place in the queue and later the lease, for as long as its pipe is open."""

    def __init__(self, folder: Path, claim: Claim) -> None:
        self.claim = claim
        self._folder = folder
        self._pipe: io.FileIO | None = None
        self._watched: list[int] = []
        self._poll = select.epoll()
        _tickets.add(self)

    def fileno(self) -> int:
        """The descriptor that becomes readable when it is time to look again."""
        return self._poll.fileno()

    def look(self) -> float | None:
        """Takes what is due to it: None once it has everything, else how many seconds to wait before the next look."""
        self._unwatch()
        if self._pipe is not None:
            self._pipe.read(4096)
        with _locked(self._folder) as is_locked:
            if not is_locked:
                return LOCKED_S
            self._settle()
        if self.claim.is_waiting:
            return LOOK_S
        self._poll.close()
        return None

    def wait(self, pause_s: float, stop: threading.Event | None) -> bool:
        """Waits until it is time to look again; says whether to go on at all."""
        end = time.monotonic() + pause_s
        while stop is None or not stop.is_set():
            left_s = end - time.monotonic()
            if left_s <= 0 or self._poll.poll(left_s if stop is None else min(left_s, STOP_S)):
                return True
        return False

    def close(self) -> None:
        """Gives up its place or gives back what it holds."""
        if self._pipe is not None and not self._pipe.closed:
            # Not by closing alone: a process being started at this moment still has a copy of the descriptor.
            fcntl.flock(self._pipe, fcntl.LOCK_UN)
        self._unwatch()
        self.disown()

    def disown(self) -> None:
        """Closes its descriptors; if another process has them too, nothing is given back there."""
        for pipe in self._watched:
            os.close(pipe)
        self._watched.clear()
        self._poll.close()
        if self._pipe is not None:
            self._pipe.close()

    def _settle(self) -> None:
        """Brings the queue up to date, on behalf of everyone in it; the queue is locked."""
        queue = old = _Queue.read(self._folder)
        if not self._is_in(queue):
            queue = self._join(queue)
        pipes = {it.number: _open_alive(_pipe(self._folder, it.number)) for it in queue.claims}
        try:
            claims = grant(it for it in queue.claims if pipes[it.number] is not None)
            self.claim = next(it for it in claims if it.number == self.claim.number)
            if claims != old.claims:
                for number, pipe in pipes.items():
                    if pipe is None:  # before the queue forgets it, or a kill in between would leave it there for good
                        _pipe(self._folder, number).unlink(missing_ok=True)
                replace(queue, claims=claims).write(self._folder)
                self._tell(queue.claims, claims)
            for number in watches(claims).get(self.claim.number, ()):
                self._watch(pipes.pop(number))
        finally:
            for pipe in filter(None, pipes.values()):
                os.close(pipe)

    def _is_in(self, queue: _Queue) -> bool:
        """Whether it has its place; not if somebody has cleaned up the folder, even if its number is in use again."""
        if self._pipe is None or all(claim.number != self.claim.number for claim in queue.claims):
            return False
        try:
            return os.path.samestat(os.fstat(self._pipe.fileno()), _pipe(self._folder, self.claim.number).stat())
        except FileNotFoundError:
            return False

    def _join(self, queue: _Queue) -> _Queue:
        """Becomes the last in the queue."""
        if self._pipe is not None:
            self._poll.unregister(self._pipe)
            self._pipe.close()
        path = _pipe(self._folder, queue.upcoming)
        path.unlink(missing_ok=True)  # left by somebody killed at the same point
        os.mkfifo(path, 0o600)
        self._pipe = io.FileIO(os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC), "r+")
        fcntl.flock(self._pipe, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self._poll.register(self._pipe, select.EPOLLIN)
        self.claim = replace(self.claim, number=queue.upcoming)
        return _Queue(queue.upcoming + 1, [*queue.claims, self.claim])

    def _tell(self, before: Sequence[Claim], after: Sequence[Claim]) -> None:
        """Wakes up everyone who has been given something, or has somebody else to watch from now on."""
        waited = {claim.number for claim in before if claim.is_waiting}
        told = {claim.number for claim in after if not claim.is_waiting} & waited
        earlier = watches(before)
        told |= {number for number, watched in watches(after).items() if watched - earlier.get(number, set())}
        for number in told - {self.claim.number}:
            with suppress(OSError):  # it has died since, or its pipe is full of bytes already
                pipe = os.open(_pipe(self._folder, number), os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
                try:
                    os.write(pipe, b"!")
                finally:
                    os.close(pipe)

    def _watch(self, pipe: int | None) -> None:
        if pipe is not None:
            self._watched.append(pipe)
            self._poll.register(pipe, 0)  # for its hang-up, which needs no asking, not for what is written to its owner

    def _unwatch(self) -> None:
        while self._watched:
            pipe = self._watched.pop()
            self._poll.unregister(pipe)  # not left to close: a process being started may have a copy
            os.close(pipe)


_tickets: WeakSet[_Ticket] = WeakSet()
_guard = threading.RLock()
"""Held while a queue is locked, so that no child is forked with its lock."""


def _leave_to_parent() -> None:
    """In a forked child: descriptors survive a fork, and with them the flocks; the leases stay the parent's alone."""
    for ticket in list(_tickets):
        ticket.disown()
    _guard.release()


os.register_at_fork(before=_guard.acquire, after_in_parent=_guard.release, after_in_child=_leave_to_parent)


@contextmanager
def _locked(folder: Path) -> Iterator[bool]:
    """Locks the queue, or says that somebody else has; never waits, for it is called on event loops."""
    with _guard:
        try:
            lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except FileNotFoundError:  # somebody has cleaned up the temporary folder
            _make_private(folder)
            lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            try:
                yield True
            finally:
                fcntl.flock(lock, fcntl.LOCK_UN)
        finally:
            os.close(lock)


def _pipe(folder: Path, number: int) -> Path:
    return folder / f"{number}.claim"


def _open_alive(path: Path) -> int | None:
    """A descriptor that hangs up when the owner of a pipe lets go of it; None if there is no owner any more."""
    try:
        pipe = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        # The kernel drops a flock before it hangs up. So if it is held now, the hang-up is still to come.
        fcntl.flock(pipe, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return pipe
    os.close(pipe)
    return None


def _make_private(folder: Path) -> None:
    """Makes the folder, or checks that nobody else can have put anything into it."""
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode):
        reason = "it is a symbolic link" if stat.S_ISLNK(found.st_mode) else "it is no folder"
    elif found.st_uid != os.geteuid():
        reason = f"it belongs to user {found.st_uid}, not to {os.geteuid()}"
    elif found.st_mode & 0o077:
        reason = f"its mode is {stat.S_IMODE(found.st_mode):o}, not 700, so that others could meddle with leases"
    else:
        return
    raise PodiumError(f"{folder} cannot be the pool of leases: {reason}. Remove it, or set TMPDIR to another place.")


def _devices() -> list[tuple[int, str]]:
    """Number and UUID of each NVIDIA device, in the order of their places on the bus, as CUDA counts them."""
    devices = []
    for path in sorted(Path("/proc/driver/nvidia/gpus").glob("*/information")):
        text = path.read_text(encoding="utf-8", errors="replace")
        number, uuid = re.search(r"Device Minor:\s*(\d+)", text), re.search(r"GPU UUID:\s*(\S+)", text)
        if number:
            devices.append((int(number[1]), uuid[1] if uuid else ""))
    present = {int(path.name.removeprefix("nvidia")) for path in Path("/dev").glob("nvidia[0-9]*")}
    return [device for device in devices if device[0] in present] or [(number, "") for number in sorted(present)]


def _lowest(bits: int, count: int) -> int:
    """The lowest so many of the bits, or all of them if there are fewer."""
    chosen = 0
    for _ in range(min(count, bits.bit_count())):
        chosen |= bits & -bits
        bits &= bits - 1
    return chosen


def _bits(numbers: Iterable[int]) -> int:
    return sum(1 << number for number in numbers)


def _numbers(bits: int) -> tuple[int, ...]:
    return tuple(number for number in range(bits.bit_length()) if bits >> number & 1)


def _count(cores: int, gpus: int) -> str:
    return f"{cores} core{'s' * (cores != 1)} and {gpus} GPU{'s' * (gpus != 1)}"
