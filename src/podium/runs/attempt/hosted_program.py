"""Runs a program that acts by itself for the whole of a run: on leased cores while it computes, not while it waits.

The lease is given back while the program's model thinks and nothing inside computes, and is taken again before the
program gets the answer. What it has left in the background meanwhile is seen by the time it takes of the processor, and
keeps the lease.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable

import anyio
from inspect_ai.util import suspend_working_limit

from podium.leases import Lease, Pool
from podium.runs.attempt.usage_meter import Meter
from podium.sandbox.linux.limits import process_tree

LOOK_S = 0.1
IDLE_SHARE = 0.2
"""Of one core: what takes less of it is idle. Programs that wait redraw their screens and look after timers."""


class ComputingLease:
    """A lease on cores for one program at a time; used inside a task group of the run."""

    def __init__(self, pool: Pool, cores: int, *, gpus: int, name: str, meter: Meter, keeps: bool) -> None:
        """
        Args:
            keeps: whether it is held all the time. With GPUs it is: a program cannot change to others.
        """
        self._pool, self._cores, self._gpus, self._name, self._meter = pool, cores, gpus, name, meter
        self._keeps = keeps or gpus > 0
        self._held = contextlib.AsyncExitStack()
        self._lease: Lease | None = None
        self._changing = anyio.Lock()
        self._thinking = 0
        self.root: int | None = None
        """The first process of the sandbox; None where processes cannot be looked at, so that the lease is kept."""
        self.report: Callable[[str], None] = lambda phase: None

    @contextlib.asynccontextmanager
    async def computing(self) -> AsyncIterator[Lease]:
        """A block in which a program runs, from the moment it has cores for the first time."""
        try:
            yield await self._take()
        finally:
            with anyio.CancelScope(shield=True):
                await self._give_back()

    @contextlib.asynccontextmanager
    async def thinking(self) -> AsyncIterator[None]:
        """A block in which the program's model is asked."""
        self._thinking += 1
        self.report("thinking")
        try:
            yield
        finally:
            self._thinking -= 1
            await self._take()
            self.report("computing")

    async def watch(self) -> None:
        """Gives the lease back while nothing computes, until it is cancelled."""
        if self._keeps or self.root is None:
            return
        before, ran = process_tree.processor_s(self.root), False
        while True:
            await anyio.sleep(LOOK_S)
            now, runs = process_tree.processor_s(self.root), "R" in process_tree.states(self.root)
            # Twice in a row: what children compute that nobody waits for is lost with them.
            is_idle = now - before < IDLE_SHARE * LOOK_S and not (ran and runs)
            before, ran = now, runs
            if self._thinking and is_idle:
                await self._give_back()
            elif not is_idle:
                await self._take()

    async def _take(self) -> Lease:
        async with self._changing:
            if self._lease is None:
                with suspend_working_limit():
                    self._lease = await self._held.enter_async_context(
                        self._pool.lease(self._cores, self._gpus, name=self._name)
                    )
                self._meter.add_waiting(self._lease.waited_s)
                if self.root is not None:
                    process_tree.bind(self.root, self._lease.cores)
            return self._lease

    async def _give_back(self) -> None:
        async with self._changing:
            self._lease = None
            await self._held.aclose()
