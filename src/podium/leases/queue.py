"""Queue of a pool: a folder shared by any number of processes, without a server. It contains

- `claims`: the first line holds the claims of all processes in order of arrival, with the cores and GPUs granted;
  each change holds a flock for less than a millisecond;
- `ID.pipe`: a named pipe that the process behind a claim keeps open for reading. Once that process has ended, in
  any way, opening the pipe for writing fails; until then, a byte written to it wakes the process up.
"""

from __future__ import annotations

import errno
import fcntl
import io
import json
import os
import stat
import threading
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakSet

from podium.errors import PodiumError


class Claim(NamedTuple):
    """Resources that one lease holds or waits for."""

    id: str
    pid: int
    name: str
    requested: tuple[int, int]
    """Number of cores and GPUs."""
    usable_cores: tuple[int, ...]
    """Cores that its process may use, by number."""
    usable_gpus: tuple[int, ...]
    cores: tuple[int, ...] = ()
    """Cores granted so far, by number."""
    gpus: tuple[int, ...] = ()

    @property
    def is_waiting(self) -> bool:
        return not self.cores and not self.gpus


def grant(claims: Iterable[Claim]) -> list[Claim]:
    """Return the claims in order of arrival, after granting all that can be granted.

    A claim that cannot be granted yet reserves the free part of its request. So a later claim overtakes it only with
    resources it does not need, and a claim for many cores collects them as they are released.
    """
    claims = list(claims)
    taken_cores = {core for claim in claims for core in claim.cores}
    taken_gpus = {gpu for claim in claims for gpu in claim.gpus}
    for index, claim in enumerate(claims):
        if claim.is_waiting:
            cores = _free(claim.usable_cores, taken_cores, claim.requested[0])
            gpus = _free(claim.usable_gpus, taken_gpus, claim.requested[1])
            if (len(cores), len(gpus)) == claim.requested:
                claims[index] = claim._replace(cores=cores, gpus=gpus)
            taken_cores.update(cores)
            taken_gpus.update(gpus)
    return claims


def _free(usable: Iterable[int], taken: Collection[int], count: int) -> tuple[int, ...]:
    return tuple(islice((number for number in usable if number not in taken), count))


class Queue:
    """Claims on a pool, stored in its folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        _make_private(folder)

    @contextmanager
    def change(self) -> Iterator[list[Claim]]:
        """Yield the claims of all live processes for modification, then grant what is free and wake the new holders.

        Afterwards the list is as it was written. No other process sees or changes the claims meanwhile.
        """
        _make_private(self.folder)  # again: the temporary folder may have been cleaned up
        with _guard, _open(self.folder / "claims", os.O_RDWR | os.O_CREAT) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            try:
                claims = [claim for claim in _read(file) if self._signal(claim, b"")]
                yield claims
                before, claims[:] = set(claims), grant(claims)
                self._write(file, claims)
                for claim in set(claims) - before:
                    self._signal(claim, b"!")
            finally:  # explicitly: a program being started right now has a copy of the descriptor
                fcntl.flock(file, fcntl.LOCK_UN)

    def open_pipe(self, claim: Claim) -> io.FileIO:
        """Return a pipe for a new claim: it becomes readable when the claim is granted; closing it ends the claim."""
        os.mkfifo(self._path(claim), 0o600)
        pipe = _open(self._path(claim), os.O_RDWR | os.O_NONBLOCK)
        _pipes.add(pipe)
        return pipe

    def _write(self, file: io.FileIO, claims: list[Claim]) -> None:
        for path in set(self.folder.iterdir()) - set(map(self._path, claims)):
            if path.suffix == ".pipe":
                path.unlink()
        # In place and without truncating: replacing the file is a hundred times slower, because ext4 then flushes it.
        os.pwrite(file.fileno(), json.dumps(claims).encode() + b"\n", 0)

    def _signal(self, claim: Claim, message: bytes) -> bool:
        """Write to the process behind a claim; return whether it is alive."""
        try:
            with _open(self._path(claim), os.O_WRONLY | os.O_NONBLOCK) as pipe:
                pipe.write(message)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENXIO, errno.EPIPE):
                raise
            return False
        return True

    def _path(self, claim: Claim) -> Path:
        return self.folder / f"{claim.id}.pipe"


def _read(file: io.FileIO) -> list[Claim]:
    try:
        rows = json.loads(os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0).partition(b"\n")[0] or b"[]")
    except ValueError:  # after a power cut, which ended all processes
        return []
    return [Claim(*map(_frozen, row)) for row in rows]


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _open(path: Path, flags: int) -> io.FileIO:
    return io.FileIO(os.open(path, flags | os.O_CLOEXEC, 0o600), "r+" if flags & os.O_RDWR else "w")


_pipes: WeakSet[io.FileIO] = WeakSet()
_guard = threading.RLock()
"""Lock held while a queue is locked, so that no child is forked with the queue's lock."""


def _leave_to_parent() -> None:
    """Close the pipes in a forked child: the claims belong to its parent and end with it."""
    for pipe in list(_pipes):
        pipe.close()
    _guard.release()


os.register_at_fork(before=_guard.acquire, after_in_parent=_guard.release, after_in_child=_leave_to_parent)


def _make_private(folder: Path) -> None:
    """Create the folder, or check that it is private to this user."""
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    status = folder.lstat()
    if stat.S_ISLNK(status.st_mode):
        problem = f"The folder of leases, {folder}, is a symbolic link."
    elif not stat.S_ISDIR(status.st_mode):
        problem = f"The folder of leases, {folder}, is not a folder."
    elif status.st_uid != os.geteuid():
        problem = f"The folder of leases, {folder}, belongs to user {status.st_uid}, not to {os.geteuid()}."
    elif status.st_mode & 0o077:
        mode = stat.S_IMODE(status.st_mode)
        problem = f"The folder of leases, {folder}, has mode {mode:o}, not 700: other users could change it."
    else:
        return
    raise PodiumError(f"{problem} Remove it, or set TMPDIR to another folder.")
