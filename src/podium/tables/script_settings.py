"""Settings that a script reads from its environment, and the time it has used.

In a script, `STARTED` precedes the imports of libraries, which take a second or more.
"""

import os
import time
from pathlib import Path

STARTED = time.monotonic()
DATA = Path(os.environ.get("PODIUM_DATA", "/home/data"))
SEED = int(os.environ.get("PODIUM_SEED", "0"))
SPLIT = int(os.environ.get("PODIUM_SPLIT", "0"))
TIME_S = float(os.environ.get("PODIUM_TIME_S", "600"))
CORES = int(os.environ.get("OMP_NUM_THREADS", "0")) or len(os.sched_getaffinity(0))


LATEST = 0.9
"""Share of the time at which a script stops fitting models and writes its submission."""


def time_used() -> float:
    """Return the share of this script's time that has passed; the script is stopped at 1."""
    return (time.monotonic() - STARTED) / TIME_S
