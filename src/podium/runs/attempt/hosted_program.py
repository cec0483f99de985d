"""Hosting of programs that run for the whole run, such as coding agents: cores are leased while the program computes.

The lease is given back while the program waits for its model and nothing in the sandbox computes, and taken again
before the program receives the answer. Background processes keep the lease as long as they use processor time.
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
MAX_IDLE_SHARE = 0.2
"""Maximum load, in cores, that counts as idle: waiting programs redraw their screens and handle timers."""


class ComputingLease:
    """A lease on cores for one program at a time, used inside a task group of the run."""

    def __init__(self, pool: Pool, cores: int, *, gpus: int, name: str, meter: Meter, keeps: bool) -> None:
        """
        Args:
            keeps: hold the lease all the time. Required with GPUs, because a program cannot switch to others.
        """
        self._pool, self._cores, self._gpus, self._name, self._meter = pool, cores, gpus, name, meter
        self._keeps = keeps or gpus > 0
        self._held = contextlib.AsyncExitStack()
        self._lease: Lease | None = None
        self._changing = anyio.Lock()
        self._thinking = 0
        self.root: int | None = None
        """First process of the sandbox; None where processes cannot be observed, so that the lease is kept."""
        self.report: Callable[[str], None] = lambda phase: None

    @contextlib.asynccontextmanager
    async def computing(self) -> AsyncIterator[Lease]:
        """Context in which a program runs, entered when cores are first available."""
        try:
            yield await self._take()
        finally:
            with anyio.CancelScope(shield=True):
                await self._give_back()

    @contextlib.asynccontextmanager
    async def thinking(self) -> AsyncIterator[None]:
        """Context of a request to the program's model."""
        self._thinking += 1
        self.report("thinking")
        try:
            yield
        finally:
            self._thinking -= 1
            await self._take()
            self.report("computing")

    async def watch(self) -> None:
        """Give the lease back whenever nothing computes, until cancelled."""
        if self._keeps or self.root is None:
            return
        before, ran = process_tree.cpu_time_s(self.root), False
        while True:
            await anyio.sleep(LOOK_S)
            now, runs = process_tree.cpu_time_s(self.root), "R" in process_tree.program_states(self.root)
            # Twice in a row: the processor time of children that were not waited for is lost when they exit.
            is_idle = now - before < MAX_IDLE_SHARE * LOOK_S and not (ran and runs)
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
                    process_tree.bind_programs(self.root, self._lease.cores)
            return self._lease

    async def _give_back(self) -> None:
        async with self._changing:
            self._lease = None
            await self._held.aclose()
