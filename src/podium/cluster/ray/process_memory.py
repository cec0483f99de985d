"""Memory usage of a process and its descendants."""

from __future__ import annotations

import os
from pathlib import Path

_PAGE = os.sysconf("SC_PAGE_SIZE")


def tree_memory(pid: int) -> int:
    """Return the resident bytes of a process and its descendants; shared pages count for each of them.

    Excluding shared pages would be slow. A run shares its imports with the fork server, which is not counted, so the
    sum is about right.
    """
    total, pending = 0, [pid]
    while pending:
        process = Path("/proc") / str(pending.pop())
        try:
            total += int((process / "statm").read_text().split()[1]) * _PAGE
            for thread in (process / "task").iterdir():
                pending += map(int, (thread / "children").read_text().split())
        except OSError:  # the process has just ended
            continue
    return total
