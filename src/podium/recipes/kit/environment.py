"""The settings that a script reads from its environment, and the time it has used."""

import os
import time
from pathlib import Path

STARTED = time.monotonic()
DATA = Path(os.environ.get("PODIUM_DATA", "/home/data"))
SEED = int(os.environ.get("PODIUM_SEED", "0"))
SPLIT = int(os.environ.get("PODIUM_SPLIT", "0"))
TIME_S = float(os.environ.get("PODIUM_TIME_S", "600"))
CORES = int(os.environ.get("OMP_NUM_THREADS", "0")) or len(os.sched_getaffinity(0))


def time_used() -> float:
    """The share of this script's time that has passed; it is stopped at 1."""
    return (time.monotonic() - STARTED) / TIME_S
