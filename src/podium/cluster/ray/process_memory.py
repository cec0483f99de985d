"""How much memory a process and all that it started use."""

from __future__ import annotations

import os
from pathlib import Path

_PAGE = os.sysconf("SC_PAGE_SIZE")


def tree_memory(pid: int) -> int:
    """Bytes that a process and its descendants have in memory; pages they share count for each.

    To tell shared pages apart takes the kernel long. A run shares its imports with the process that it was forked from
    and that nobody counts, so the sum comes out right.
    """
    total, pending = 0, [pid]
    while pending:
        process = Path("/proc") / str(pending.pop())
        try:
            total += int((process / "statm").read_text().split()[1]) * _PAGE
            for thread in (process / "task").iterdir():
                pending += map(int, (thread / "children").read_text().split())
        except OSError:  # it has just ended
            continue
    return total
