"""Process trees, as /proc shows them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path


def tree(root: int, max_count: int | None = None) -> list[int]:
    """Return a process and its descendants, or at most some of them."""
    pids: list[int] = []
    pending = [root]
    while pending and (max_count is None or len(pids) < max_count):
        pid = pending.pop()
        pids.append(pid)
        pending += [child for children in _children(pid) for child in children]
    return pids


def has_more_tasks(root: int, limit: int) -> bool:
    """Return whether a tree has more processes and threads than a limit, without counting the rest.

    Children are counted as listed: those of a fork bomb have often exited before they can be examined.
    """
    count, pending = 1, [root]
    while pending and count <= limit:
        threads = _children(pending.pop())
        pending += [child for children in threads for child in children]
        count += len(threads) - 1 + sum(map(len, threads))
    return count > limit


def cpu_time_s(root: int) -> float:
    """Return the CPU time of programs, which are the processes below the supervisors of a first process.

    The time of children that no parent reaps is lost with them; `states` shows such children.
    """
    ticks = 0
    for supervisor in _supervisors(root):
        _, buried = _ticks(supervisor)
        ticks += buried + sum(sum(_ticks(pid)) for pid in tree(supervisor)[1:])
    return ticks / os.sysconf("SC_CLK_TCK")


def program_states(root: int) -> set[str]:
    """Return the current states of programs, in the kernel's letters: R for running, S for sleeping, T for stopped."""
    programs = [pid for supervisor in _supervisors(root) for pid in tree(supervisor)[1:]]
    return {fields[0].decode("ascii") for pid in programs if (fields := _stat(pid))}


def _supervisors(root: int) -> list[int]:
    return [child for children in _children(root) for child in children]


def bind_programs(root: int, cores: Sequence[int]) -> None:
    """Bind the programs below the first process of a sandbox to other cores, with all their threads."""
    for pid in tree(root)[1:]:
        with contextlib.suppress(OSError):  # it has ended meanwhile
            for thread in os.listdir(f"/proc/{pid}/task"):
                os.sched_setaffinity(int(thread), cores)


def _ticks(pid: int) -> tuple[int, int]:
    """Return the CPU time of a process, and of its children that have ended, in clock ticks."""
    user, system, children_user, children_system = map(int, _stat(pid)[11:15] or (0, 0, 0, 0))
    return user + system, children_user + children_system


def _stat(pid: int) -> list[bytes]:
    """Return the fields of /proc/PID/stat from the state on; empty for a process that has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return []


def _children(pid: int) -> list[list[int]]:
    """Return the children of each thread of a process; one empty list for a process that has ended."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
        return [[*map(int, Path(f"/proc/{pid}/task/{thread}/children").read_text().split())] for thread in threads]
    except OSError:
        return [[]]
