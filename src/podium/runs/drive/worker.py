"""The process of one run. It may be killed at any moment; started again, it goes on where the journal ends."""

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
    """Does a run in this process. SIGTERM ends it after the current step, to be resumed; Ctrl-C is the parent's.

    Args:
        before_grading: is called when everything is journalled and the answers are about to be read.
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
        if record is not None and record.status == "finished":  # by whoever held the lock meanwhile
            return
        run_attempt(folder, experiment.plan, task, seed, stop=stop, before_grading=before_grading)


def _end_with_parent() -> None:
    """Without a parent nobody wants the run: it ends at once, to be resumed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os.kill(os.getpid(), signal.SIGKILL)


def _lock(descriptor: int, folder: RunFolder) -> None:
    """Waits for a predecessor that is just dying; two processes never work on one run."""
    deadline = time.monotonic() + LOCK_PATIENCE_S
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(descriptor, 0)
            os.write(descriptor, str(os.getpid()).encode())  # for people who look for the process
            return
        except OSError:
            if time.monotonic() > deadline:
                sys.exit(f"another process is at work in {folder.path}")
            time.sleep(0.02)


def _redirect_output(folder: RunFolder) -> None:
    """Everything this process and its libraries print goes to a file of the run."""
    descriptor = open_regular(folder.output, os.O_WRONLY | os.O_CREAT | os.O_APPEND, top=folder.experiment)
    for stream in (1, 2):
        os.dup2(descriptor, stream)
    os.close(descriptor)
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
