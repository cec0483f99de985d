"""Worker: the process of one run. It may be killed at any moment; a new one continues from the journal's end."""

from __future__ import annotations

import fcntl
import logging
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import wait
from pathlib import Path

from podium.runs.attempt.attempt import run_attempt
from podium.runs.experiment import read_experiment
from podium.runs.run_folder import RunFolder
from podium.safefs.open_nofollow import open_regular

LOCK_PATIENCE_S = 20.0


def work(experiment_folder: str, task: str, seed: int, *, before_grading: Callable[[], None] | None = None) -> None:
    """Execute a run in this process. SIGTERM ends it after the current step; Ctrl-C is left to the parent.

    Args:
        before_grading: called when everything is journalled, before the answers are read.
    """
    experiment = read_experiment(Path(experiment_folder))
    folder = experiment.run(task, seed)
    folder.make()
    stop = threading.Event()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    _redirect_output(folder)
    threading.Thread(target=_end_with_parent, name="podium-parent", daemon=True).start()
    with os.fdopen(open_regular(folder.lock, os.O_RDWR | os.O_CREAT, top=folder.experiment), "r+b") as lock:
        _lock(lock.fileno(), folder)
        record = folder.read_record()
        if record is not None and record.status == "finished":  # by the process that held the lock
            return
        run_attempt(folder, experiment.plan, task, seed, stop=stop, before_grading=before_grading)


def _end_with_parent() -> None:
    """End this process with its parent; the run can be resumed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os.kill(os.getpid(), signal.SIGKILL)


def _lock(descriptor: int, folder: RunFolder) -> None:
    """Wait for a dying predecessor, so that two processes never work on the same run."""
    deadline = time.monotonic() + LOCK_PATIENCE_S
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(descriptor, 0)
            os.write(descriptor, str(os.getpid()).encode())  # for people looking for the process
            return
        except OSError:
            if time.monotonic() > deadline:
                sys.exit(f"Another process is already working on {folder.path}.")
            time.sleep(0.02)


def _redirect_output(folder: RunFolder) -> None:
    """Redirect stdout and stderr of this process to a file of the run."""
    descriptor = open_regular(folder.output, os.O_WRONLY | os.O_CREAT | os.O_APPEND, top=folder.experiment)
    for stream in (1, 2):
        os.dup2(descriptor, stream)
    os.close(descriptor)
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
