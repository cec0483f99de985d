"""Limit enforcement for an open sandbox: by a control group, and by measuring what the kernel does not limit."""

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
    """Guard of one sandbox. It works in a thread from `start` to `stop`, because joining a control group is slow."""

    def __init__(
        self,
        limits: Limits,
        folders: Sequence[Path],
        *,
        make_group: Callable[[Limits, int], Group],
        kill_all: Callable[[], None],
    ) -> None:
        """Prepare a guard, which works from `start` on.

        Args:
            folders: folders that programs can write to; the first is the sandbox's own, temporary one.
            make_group: returns the control group around a process.
            kill_all: kills everything in the sandbox.
        """
        self.violation: str | None = None
        """Last limit that was exceeded."""
        self._violated_at = 0.0
        self._limits, self._folders, self._make_group, self._kill_all = limits, folders, make_group, kill_all
        self._group = Group({})
        self._watchdog: Watchdog | None = None
        self._ready, self._stopping = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, pid: int, also_exceeded: Callable[[int], str | None]) -> None:
        """Start guarding a process and its future children.

        Args:
            also_exceeded: further check of the tree of the process, which returns a violation as a clause.
        """
        self._thread = threading.Thread(target=self._work, args=(pid, also_exceeded), name="podium-guard", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop guarding; the processes of the sandbox must have been killed."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()
        self._group.remove()

    def by_kernel(self) -> frozenset[str]:
        """Return the limits that a control group enforces ("memory", "pids"). Waits until programs may be started."""
        self._ready.wait()
        return frozenset(self._group.folders)

    def disk_bytes_left(self) -> int:
        """Return the number of bytes that may still be written. Waits until programs may be started."""
        self._ready.wait()
        return 0 if self._watchdog is None else self._watchdog.disk.bytes_left()

    def memory_kills(self) -> int:
        """Return the number of processes that the kernel has killed for memory."""
        return self._group.memory_kills()

    def violation_since(self, moment: float) -> str | None:
        """Return the limit that was exceeded after a moment of the monotonic clock, or None."""
        return self.violation if self._violated_at >= moment else None

    def _work(self, pid: int, also_exceeded: Callable[[int], str | None]) -> None:
        try:
            self._group = self._make_group(self._limits, pid)
            if self._group.is_ours:
                leftovers.record_groups(self._folders[0], self._group.folders.values())
            self._watchdog = watchdog = Watchdog(pid, self._limits, self._folders, enforced=self._group.folders)
        finally:
            self._ready.set()
        threading.Thread(target=leftovers.remove_abandoned, name="podium-leftovers", daemon=True).start()
        is_unbounded = os.getuid() == 0 and "pids" not in self._group.folders  # RLIMIT_NPROC does not apply to root
        if is_unbounded:
            _raise_priority(pid, threading.get_native_id())
        while not self._stopping.wait(BOMB_INTERVAL_S if is_unbounded else WATCH_INTERVAL_S):
            try:
                reason = watchdog.exceeded() or also_exceeded(pid)
            except Exception as error:  # unmeasured programs must not run, and the next check may succeed
                logger.exception("The limits of a sandbox could not be checked.")
                reason = f"the limits could not be checked ({type(error).__name__})"
            if reason is not None:
                self._end_all(pid, watchdog, reason)

    def _end_all(self, pid: int, watchdog: Watchdog, reason: str) -> None:
        self.violation, self._violated_at = reason, time.monotonic()
        self._ready.clear()  # a program started while files are truncated would lose its own
        try:
            self._kill_all()
            self._wait_until_all_ended(pid)
            watchdog.disk.truncate_to_limits()
        except Exception:
            logger.exception("A sandbox over its limits could not be brought back within them.")
        finally:
            self._ready.set()

    def _wait_until_all_ended(self, pid: int) -> None:
        deadline = time.monotonic() + KILL_PATIENCE_S
        while len(tree(pid, 2)) > 1 and time.monotonic() < deadline and not self._stopping.wait(0.01):
            continue


def _raise_priority(*tasks: int) -> None:
    """Let the threads that have to stop a fork bomb run before it."""
    for task in tasks:
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, task, os.getpriority(os.PRIO_PROCESS, 0) - 10)
