"""Workers that are killed."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable


def run_and_kill(work: Callable[[int], None], *, seed: int, within_s: float) -> bytes:
    """What work without an end wrote to a descriptor before it was killed at a random moment."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            work(writing)
        finally:
            os._exit(1)
    os.close(writing)
    time.sleep(random.Random(seed).uniform(0.0, within_s))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with os.fdopen(reading, "rb") as pipe:
        return pipe.read()
