"""The pool of cores and GPUs that all processes of a user share, and leases on them, granted in the order of asking."""

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

LOOK_S = 1.0
"""Who waits is woken up when its turn comes, and looks this often, too: who holds its cores may have been killed."""


class Lease(AbstractContextManager["Lease"]):
    """Cores and GPUs that nobody else has until they are released, or this process ends."""

    cores: tuple[int, ...] = ()
    gpus: tuple[int, ...] = ()
    waited_s: float = 0.0
    """Time spent waiting for it, which is not working time of the agent."""

    def __init__(self, queue: Queue, claim: Claim) -> None:
        """There is nothing in it before `is_granted` says so."""
        self._queue, self._claim, self._started = queue, claim, time.monotonic()
        self._pipe: io.FileIO | None = None

    @property
    def environment(self) -> dict[str, str]:
        """Variables that tell libraries what they may use; they would otherwise count the machine's cores."""
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), str(len(self.cores)))
        return {**threads, "CUDA_VISIBLE_DEVICES": ",".join(device_names(self.gpus))}

    def is_granted(self) -> bool:
        """Queues up and looks whether it is our turn."""
        with self._queue.change() as claims:
            if all(claim.id != self._claim.id for claim in claims):  # at first, and if somebody deleted the folder
                self._close()
                self._claim = self._claim._replace(id=uuid.uuid4().hex)
                self._pipe = self._queue.open_pipe(self._claim)
                claims.append(self._claim)
        claim = next(claim for claim in claims if claim.id == self._claim.id)
        self.cores, self.gpus, self.waited_s = claim.cores, claim.gpus, time.monotonic() - self._started
        return not claim.is_waiting

    def fileno(self) -> int:
        """The descriptor that becomes readable when it is granted."""
        assert self._pipe is not None
        return self._pipe.fileno()

    def release(self) -> None:
        """Gives everything back; a second time, or in a forked child, does nothing."""
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
    """The cores and GPUs that all processes using the same folder share."""

    def __init__(self, folder: Path | str, cores: Iterable[int], gpus: Iterable[int] = ()) -> None:
        """Opens the pool, making its folder if need be. Processes may differ in which cores and GPUs they can use.

        Raises:
            PodiumError: the folder is not a private one of this user's.
        """
        self.folder = Path(folder)
        self.cores, self.gpus = tuple(sorted(set(cores))), tuple(sorted(set(gpus)))
        self._queue = Queue(self.folder)

    def with_gpus(self, gpus: Iterable[int]) -> Pool:
        """The same pool for somebody who can use only these GPUs of it, such as those that a sandbox shows."""
        return Pool(self.folder, self.cores, set(self.gpus) & set(gpus))

    def take(self, cores: int = 1, gpus: int = 0, *, name: str = "") -> Lease:
        """Waits until so many cores and GPUs are free and it is our turn.

        A process that holds a lease and takes another one can wait for itself.

        Raises:
            UsageError: the pool does not have so many.
        """
        with ExitStack() as stack:
            lease = stack.enter_context(self._claim(cores, gpus, name))
            while not lease.is_granted():
                poll = select.poll()
                poll.register(lease, select.POLLIN)
                poll.poll(1000 * LOOK_S)
            stack.pop_all()  # ours from now on
        return lease

    @asynccontextmanager
    async def lease(self, cores: int = 1, gpus: int = 0, *, name: str = "") -> AsyncIterator[Lease]:
        """`take` for anyio: waits without blocking the event loop; cancelling ends the waiting or the lease."""
        import anyio

        with self._claim(cores, gpus, name) as lease:
            while not lease.is_granted():
                with anyio.move_on_after(LOOK_S):
                    await anyio.wait_readable(lease)
            yield lease

    def holders(self) -> list[Claim]:
        """The claims of all live processes, held or waited for, in the order they came."""
        with self._queue.change() as claims:
            pass
        return claims

    def _claim(self, cores: int, gpus: int, name: str) -> Lease:
        if min(cores, gpus) < 0 or not cores + gpus:
            raise UsageError(f"A lease needs at least one core or GPU, not {_units(cores, gpus)}.")
        if cores > len(self.cores) or gpus > len(self.gpus):
            there = _units(len(self.cores), len(self.gpus))
            raise UsageError(f"{_units(cores, gpus)} cannot be leased at once: the pool has {there}. Ask for less.")
        return Lease(self._queue, Claim("", os.getpid(), name, (cores, gpus), self.cores, self.gpus))


def default_pool() -> Pool:
    """All cores and GPUs that this process may use, in the pool of this machine and user."""
    # Not in XDG_RUNTIME_DIR: that goes when the last session is closed, while runs in the background go on, and jobs
    # started by cron have none. Two folders would be two pools, and every core would be leased twice.
    folder = Path(tempfile.gettempdir()) / f"podium-leases-{os.geteuid()}"
    return Pool(folder, os.sched_getaffinity(0), usable_gpus())


def _units(cores: int, gpus: int) -> str:
    return f"{plural(cores, 'core')} and {plural(gpus, 'GPU')}"
