"""Live status of a running attempt, exchanged through files in its folder so that any process can follow it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import threading
import time
from typing import Any

from podium.errors import RecordError
from podium.runs.records import Answer, Progress, Question
from podium.runs.run_folder import RunFolder
from podium.safefs.open_nofollow import open_regular
from podium.safefs.remove_tree import remove_tree

INTERVAL_S = 0.25
"""Minimum time between two writes, however fast steps follow each other."""


class Reporter:
    """Keeps `progress.json` up to date inside its block. Thread-safe."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._progress = Progress()
        self._changed, self._closing = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._write_now_and_then, name="podium-progress", daemon=True)

    def __enter__(self) -> Reporter:
        remove_tree(self._folder.answer)
        self._write()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._changed.set()
        self._thread.join()

    def update(self, **fields: Any) -> None:
        """Replace some fields of the progress; None leaves a field unchanged."""
        known = {name: value for name, value in fields.items() if value is not None}
        self._progress = self._progress.model_copy(update=known)
        self._changed.set()

    def ask(self, text: str) -> str | None:
        """Return the answer of the person following the run, or None without one. Blocks until then."""
        number = self._progress.question.number + 1 if self._progress.question else 1
        self.update(phase="waiting for an answer", question=Question(number=number, text=text))
        while True:
            answer = self._folder.read(self._folder.answer, Answer)
            if answer is not None and answer.number == number:
                return answer.text
            time.sleep(INTERVAL_S)

    def _write_now_and_then(self) -> None:
        while not self._closing.is_set():
            self._changed.wait()
            self._changed.clear()
            self._write()
            self._closing.wait(INTERVAL_S)

    def _write(self) -> None:
        with contextlib.suppress(OSError):  # a full disk stops the run elsewhere
            self._folder.write(self._folder.progress, self._progress, durable=False)


def read_progress(folder: RunFolder) -> Progress | None:
    """Return the live status of a run's latest attempt, or None if none has begun or the file is unreadable."""
    try:
        return folder.read(folder.progress, Progress)
    except RecordError:
        return None


def answer(folder: RunFolder, question: Question, text: str | None) -> None:
    """Pass a person's answer to a run."""
    folder.write(folder.answer, Answer(number=question.number, text=text))


def has_running_attempt(folder: RunFolder) -> bool:
    """Return whether a process works on a run; it holds the run's lock while it lives."""
    try:
        descriptor = open_regular(folder.lock, top=folder.experiment)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False
