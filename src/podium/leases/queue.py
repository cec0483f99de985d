"""The queue of a pool: a folder that any number of processes share, without a server. In it lie

- `claims`: in its first line the claims of all processes in the order they came, with what each has been granted;
  flocked by whoever changes them, for less than a millisecond;
- `ID.pipe`: a named pipe that the process behind a claim keeps open for reading. Once that process has ended, however
  it ended, the pipe cannot be opened for writing; until then a byte written to it wakes the process up.
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
    """What one lease holds or waits for."""

    id: str
    pid: int
    name: str
    wants: tuple[int, int]
    """How many cores and GPUs."""
    usable_cores: tuple[int, ...]
    """Those that its process may use, by number."""
    usable_gpus: tuple[int, ...]
    cores: tuple[int, ...] = ()
    """Those it has been granted."""
    gpus: tuple[int, ...] = ()

    @property
    def is_waiting(self) -> bool:
        return not self.cores and not self.gpus


def grant(claims: Iterable[Claim]) -> list[Claim]:
    """The claims, in the order they came, with everything granted that can be.

    A claim that cannot be met yet reserves what is free of its needs. So a later one overtakes it only with what it
    will not need, and a claim for many cores collects them as they become free.
    """
    claims = list(claims)
    taken_cores = {core for claim in claims for core in claim.cores}
    taken_gpus = {gpu for claim in claims for gpu in claim.gpus}
    for index, claim in enumerate(claims):
        if claim.is_waiting:
            cores = _free(claim.usable_cores, taken_cores, claim.wants[0])
            gpus = _free(claim.usable_gpus, taken_gpus, claim.wants[1])
            if (len(cores), len(gpus)) == claim.wants:
                claims[index] = claim._replace(cores=cores, gpus=gpus)
            taken_cores.update(cores)
            taken_gpus.update(gpus)
    return claims


def _free(usable: Iterable[int], taken: Collection[int], count: int) -> tuple[int, ...]:
    return tuple(islice((number for number in usable if number not in taken), count))


class Queue:
    """The claims on a pool."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        _make_private(folder)

    @contextmanager
    def change(self) -> Iterator[list[Claim]]:
        """The claims of all live processes, to be changed. Then what is free is granted, and who gets it is woken up.

        Afterwards the list is as it was written. Nobody else sees or changes the claims in the meantime.
        """
        _make_private(self.folder)  # again: somebody may have cleaned up the temporary folder
        with _guard, _open(self.folder / "claims", os.O_RDWR | os.O_CREAT) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            try:
                claims = [claim for claim in _read(file) if self._signal(claim, b"")]
                yield claims
                before, claims[:] = set(claims), grant(claims)
                self._write(file, claims)
                for claim in set(claims) - before:
                    self._signal(claim, b"!")
            finally:  # not left to closing: a program being started at this moment has a copy of the descriptor
                fcntl.flock(file, fcntl.LOCK_UN)

    def open_pipe(self, claim: Claim) -> io.FileIO:
        """A pipe that becomes readable when the claim, which is to be added, is granted, and whose closing ends it."""
        os.mkfifo(self._path(claim), 0o600)
        pipe = _open(self._path(claim), os.O_RDWR | os.O_NONBLOCK)
        _pipes.add(pipe)
        return pipe

    def _write(self, file: io.FileIO, claims: list[Claim]) -> None:
        for path in set(self.folder.iterdir()) - set(map(self._path, claims)):
            if path.suffix == ".pipe":
                path.unlink()
        # In place and without truncating: replacing a file is a hundred times slower, as ext4 makes it safe on disk.
        os.pwrite(file.fileno(), json.dumps(claims).encode() + b"\n", 0)

    def _signal(self, claim: Claim, message: bytes) -> bool:
        """Writes to the process behind a claim; says whether it is alive."""
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
    except ValueError:  # after a power cut, which no process has survived
        return []
    return [Claim(*map(_frozen, row)) for row in rows]


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _open(path: Path, flags: int) -> io.FileIO:
    return io.FileIO(os.open(path, flags | os.O_CLOEXEC, 0o600), "r+" if flags & os.O_RDWR else "w")


_pipes: WeakSet[io.FileIO] = WeakSet()
_guard = threading.RLock()
"""Held while a queue is locked, so that no child is forked with its lock."""


def _leave_to_parent() -> None:
    """Closes the pipes in a forked child: the claims are its parent's and end with it."""
    for pipe in list(_pipes):
        pipe.close()
    _guard.release()


os.register_at_fork(before=_guard.acquire, after_in_parent=_guard.release, after_in_child=_leave_to_parent)


def _make_private(folder: Path) -> None:
    """Makes the folder, or checks that nobody else can have put anything into it."""
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode):
        reason = "it is a symbolic link" if stat.S_ISLNK(found.st_mode) else "it is not a folder"
    elif found.st_uid != os.geteuid():
        reason = f"it belongs to user {found.st_uid}, not to {os.geteuid()}"
    elif found.st_mode & 0o077:
        reason = f"its mode is {stat.S_IMODE(found.st_mode):o}, not 700, so other users could change the leases"
    else:
        return
    raise PodiumError(f"{folder} cannot hold the leases: {reason}. Remove it, or set TMPDIR to another folder.")
