"""Holds an open sandbox to its limits: through a control group, and by measuring what the kernel will not."""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from podium.sandbox.linux import leftovers
from podium.sandbox.linux.limits.cgroups import Group
from podium.sandbox.linux.limits.process_tree import tree
from podium.sandbox.linux.limits.watchdog import Watchdog
from podium.sandbox.spec import Limits

logger = logging.getLogger(__name__)

KILL_PATIENCE_S = 10.0
WATCH_INTERVAL_S, BOMB_INTERVAL_S = 0.2, 0.05


class Guard:
    """Works in a thread from `start` to `stop`, because joining a control group takes the kernel long."""

    def __init__(
        self,
        limits: Limits,
        folders: Sequence[Path],
        *,
        make_group: Callable[[Limits, int], Group],
        kill_all: Callable[[], None],
    ) -> None:
        """
        Args:
            folders: where programs can write; the first is the sandbox's own, temporary one.
            make_group: the control group around a process.
            kill_all: ends everything in the sandbox.
        """
        self.violation: str | None = None
        """The last limit that was exceeded."""
        self._violated_at = 0.0
        self._limits, self._folders, self._make_group, self._kill_all = limits, folders, make_group, kill_all
        self._group = Group({})
        self._watchdog: Watchdog | None = None
        self._ready, self._stopping = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, pid: int, also_exceeded: Callable[[int], str | None]) -> None:
        """Begins to guard a process and all it will start.

        Args:
            also_exceeded: what else may be wrong with the tree of the process, as a sentence.
        """
        self._thread = threading.Thread(target=self._work, args=(pid, also_exceeded), name="podium-guard", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ends with the sandbox, whose processes must have been killed."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()
        self._group.remove()

    def by_kernel(self) -> frozenset[str]:
        """The limits that a control group holds ("memory", "pids"). Waits until programs may be started."""
        self._ready.wait()
        return frozenset(self._group.folders)

    def disk_left(self) -> int:
        """How much may still be written. Waits until programs may be started."""
        self._ready.wait()
        return 0 if self._watchdog is None else self._watchdog.disk.left()

    def memory_kills(self) -> int:
        """How many processes the kernel has killed for their memory."""
        return self._group.memory_kills()

    def violation_since(self, moment: float) -> str | None:
        """The limit that was exceeded after a moment of the monotonic clock."""
        return self.violation if self._violated_at >= moment else None

    def _work(self, pid: int, also_exceeded: Callable[[int], str | None]) -> None:
        try:
            self._group = self._make_group(self._limits, pid)
            if self._group.is_ours:
                leftovers.note_groups(self._folders[0], self._group.folders.values())
            self._watchdog = watchdog = Watchdog(pid, self._limits, self._folders, enforced=self._group.folders)
        finally:
            self._ready.set()
        threading.Thread(target=leftovers.remove_abandoned, name="podium-leftovers", daemon=True).start()
        is_unbounded = os.getuid() == 0 and "pids" not in self._group.folders  # RLIMIT_NPROC does not hold for root
        if is_unbounded:
            _go_first(pid, threading.get_native_id())
        while not self._stopping.wait(BOMB_INTERVAL_S if is_unbounded else WATCH_INTERVAL_S):
            try:
                reason = watchdog.exceeded() or also_exceeded(pid)
            except Exception as error:  # what is not watched must not run, and the next look may succeed
                logger.exception("the limits of a sandbox could not be watched")
                reason = f"its limits could not be watched ({type(error).__name__})"
            if reason is not None:
                self._end_all(pid, watchdog, reason)

    def _end_all(self, pid: int, watchdog: Watchdog, reason: str) -> None:
        self.violation, self._violated_at = reason, time.monotonic()
        self._ready.clear()  # what is started while files are shortened would lose its own
        try:
            self._kill_all()
            self._wait_for_the_end_of_all(pid)
            watchdog.disk.cut_back()
        except Exception:
            logger.exception("a sandbox beyond its limits could not be brought back to them")
        finally:
            self._ready.set()

    def _wait_for_the_end_of_all(self, pid: int) -> None:
        until = time.monotonic() + KILL_PATIENCE_S
        while len(tree(pid, 2)) > 1 and time.monotonic() < until and not self._stopping.wait(0.01):
            continue


def _go_first(*tasks: int) -> None:
    """Lets those who have to stop a fork bomb run before it."""
    for task in tasks:
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, task, os.getpriority(os.PRIO_PROCESS, 0) - 10)
