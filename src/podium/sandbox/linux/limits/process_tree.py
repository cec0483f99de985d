"""Trees of processes, as the kernel shows them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path


def tree(root: int, at_most: int | None = None) -> list[int]:
    """A process and everything below it, or a number of them."""
    found: list[int] = []
    pending = [root]
    while pending and (at_most is None or len(found) < at_most):
        pid = pending.pop()
        found.append(pid)
        pending += [child for children in _children(pid) for child in children]
    return found


def has_more_tasks(root: int, limit: int) -> bool:
    """Whether there are more processes and threads in a tree than a number, without counting the rest.

    Children are counted as they are listed: those of a fork bomb have often ended before one can look at them.
    """
    count, pending = 1, [root]
    while pending and count <= limit:
        threads = _children(pending.pop())
        pending += [child for children in threads for child in children]
        count += len(threads) - 1 + sum(map(len, threads))
    return count > limit


def processor_s(root: int) -> float:
    """The processor time that programs have taken: what is below the supervisors of a first process.

    That of children which their parent does not wait for is lost with them; `states` shows such.
    """
    ticks = 0
    for supervisor in _supervisors(root):
        _, buried = _ticks(supervisor)
        ticks += buried + sum(sum(_ticks(pid)) for pid in tree(supervisor)[1:])
    return ticks / os.sysconf("SC_CLK_TCK")


def states(root: int) -> set[str]:
    """What programs are doing at this moment, in the kernel's letters: R is to run, S to sleep, T to be stopped."""
    programs = [pid for supervisor in _supervisors(root) for pid in tree(supervisor)[1:]]
    return {fields[0].decode("ascii") for pid in programs if (fields := _stat(pid))}


def _supervisors(root: int) -> list[int]:
    return [child for children in _children(root) for child in children]


def bind(root: int, cores: Sequence[int]) -> None:
    """Moves programs to other cores, all their threads: what is below the first process of a sandbox."""
    for pid in tree(root)[1:]:
        with contextlib.suppress(OSError):  # it has ended meanwhile
            for thread in os.listdir(f"/proc/{pid}/task"):
                os.sched_setaffinity(int(thread), cores)


def _ticks(pid: int) -> tuple[int, int]:
    """The processor time of a process, and that of its children which have ended."""
    user, system, children_user, children_system = map(int, _stat(pid)[11:15] or (0, 0, 0, 0))
    return user + system, children_user + children_system


def _stat(pid: int) -> list[bytes]:
    """What the kernel says of a process after its name, from its state on; nothing of one that has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return []


def _children(pid: int) -> list[list[int]]:
    """What each thread of a process has started; one empty list for a process that has ended."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
        return [[*map(int, Path(f"/proc/{pid}/task/{thread}/children").read_text().split())] for thread in threads]
    except OSError:
        return [[]]
