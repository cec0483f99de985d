"""Pool of cores and GPUs shared by all processes of a user; leases on it are granted first come, first served."""

from __future__ import annotations

import io
import os
import select
import tempfile
import time
import uuid
from collections.abc import AsyncIterator, Iterable
from contextlib import AbstractContextManager, ExitStack, asynccontextmanager
from pathlib import Path

from podium.errors import UsageError
from podium.leases.gpus import device_names, usable_gpus
from podium.leases.queue import Claim, Queue
from podium.text import plural

POLL_S = 1.0
"""Polling interval of a waiting process in addition to wake-ups, because the holder of a lease may have been killed."""


class Lease(AbstractContextManager["Lease"]):
    """Cores and GPUs held exclusively until they are released or this process ends."""

    cores: tuple[int, ...] = ()
    gpus: tuple[int, ...] = ()
    waited_s: float = 0.0
    """Time spent waiting for the lease, which does not count as working time of the agent."""

    def __init__(self, queue: Queue, claim: Claim) -> None:
        """Create an empty lease; it is filled once `is_granted` returns True."""
        self._queue, self._claim, self._started = queue, claim, time.monotonic()
        self._pipe: io.FileIO | None = None

    @property
    def environment(self) -> dict[str, str]:
        """Environment variables that limit libraries to the lease; by default they use all cores of the machine."""
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), str(len(self.cores)))
        return {**threads, "CUDA_VISIBLE_DEVICES": ",".join(device_names(self.gpus))}

    def is_granted(self) -> bool:
        """Join the queue if necessary and return whether the lease is granted."""
        with self._queue.change() as claims:
            if all(claim.id != self._claim.id for claim in claims):  # initially, and after the folder was deleted
                self._close()
                self._claim = self._claim._replace(id=uuid.uuid4().hex)
                self._pipe = self._queue.open_pipe(self._claim)
                claims.append(self._claim)
        claim = next(claim for claim in claims if claim.id == self._claim.id)
        self.cores, self.gpus, self.waited_s = claim.cores, claim.gpus, time.monotonic() - self._started
        return not claim.is_waiting

    def fileno(self) -> int:
        """Return the descriptor that becomes readable when the lease is granted."""
        assert self._pipe is not None
        return self._pipe.fileno()

    def release(self) -> None:
        """Return everything to the pool; does nothing the second time, or in a forked child."""
        if self._pipe is not None and not self._pipe.closed:
            with self._queue.change() as claims:
                claims[:] = [claim for claim in claims if claim.id != self._claim.id]
            self._close()

    def __exit__(self, *_: object) -> None:
        self.release()

    def _close(self) -> None:
        if self._pipe is not None:
            self._pipe.close()


class Pool:
    """Cores and GPUs shared by all processes that use the same folder."""

    def __init__(self, folder: Path | str, cores: Iterable[int], gpus: Iterable[int] = ()) -> None:
        """Open the pool and create its folder if necessary. Its processes may be able to use different cores and GPUs.

        Raises:
            PodiumError: the folder is not private to this user.
        """
        self.folder = Path(folder)
        self.cores, self.gpus = tuple(sorted(set(cores))), tuple(sorted(set(gpus)))
        self._queue = Queue(self.folder)

    def with_gpus(self, gpus: Iterable[int]) -> Pool:
        """Return the same pool restricted to some GPUs, such as those visible in a sandbox."""
        return Pool(self.folder, self.cores, set(self.gpus) & set(gpus))

    def take(self, cores: int = 1, gpus: int = 0, *, name: str = "") -> Lease:
        """Wait until the cores and GPUs are free and it is this process's turn.

        A process that holds a lease and takes another one can deadlock.

        Raises:
            UsageError: the pool is too small.
        """
        with ExitStack() as stack:
            lease = stack.enter_context(self._claim(cores, gpus, name))
            while not lease.is_granted():
                poll = select.poll()
                poll.register(lease, select.POLLIN)
                poll.poll(1000 * POLL_S)
            stack.pop_all()  # ours from now on
        return lease

    @asynccontextmanager
    async def lease(self, cores: int = 1, gpus: int = 0, *, name: str = "") -> AsyncIterator[Lease]:
        """Take a lease without blocking the event loop of anyio; cancelling ends the wait or the lease."""
        import anyio

        with self._claim(cores, gpus, name) as lease:
            while not lease.is_granted():
                with anyio.move_on_after(POLL_S):
                    await anyio.wait_readable(lease)
            yield lease

    def holders(self) -> list[Claim]:
        """Return the claims of all live processes, granted or waiting, in order of arrival."""
        with self._queue.change() as claims:
            pass
        return claims

    def _claim(self, cores: int, gpus: int, name: str) -> Lease:
        if min(cores, gpus) < 0 or not cores + gpus:
            raise UsageError(f"A lease needs at least one core or GPU, not {_units(cores, gpus)}.")
        if cores > len(self.cores) or gpus > len(self.gpus):
            available = _units(len(self.cores), len(self.gpus))
            requested = _units(cores, gpus)
            raise UsageError(f"The pool has only {available}; {requested} cannot be leased together. Request less.")
        return Lease(self._queue, Claim("", os.getpid(), name, (cores, gpus), self.cores, self.gpus))


def default_pool() -> Pool:
    """Return the pool of this machine and user, with all cores and GPUs that this process may use."""
    # Not in XDG_RUNTIME_DIR: it is deleted when the last session closes, although background runs continue, and cron
    # jobs have none. Two folders would be two pools, and every core would be leased twice.
    folder = Path(tempfile.gettempdir()) / f"podium-leases-{os.geteuid()}"
    return Pool(folder, os.sched_getaffinity(0), usable_gpus())


def _units(cores: int, gpus: int) -> str:
    return f"{plural(cores, 'core')} and {plural(gpus, 'GPU')}"
