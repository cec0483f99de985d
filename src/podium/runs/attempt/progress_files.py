"""What a running attempt tells whoever follows it: through files of its folder, so that any process can look."""

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
"""At most so often is a change written, however fast steps follow each other."""


class Reporter:
    """Keeps `progress.json` up to date while its block runs. May be used from any thread."""

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
        """Replaces some fields of the progress; a None leaves a field as it was."""
        known = {name: value for name, value in fields.items() if value is not None}
        self._progress = self._progress.model_copy(update=known)
        self._changed.set()

    def ask(self, text: str) -> str | None:
        """The answer of the person who follows the run; None if nobody answers. Blocks until then."""
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
        with contextlib.suppress(OSError):  # a full disk stops the run where it matters
            self._folder.write(self._folder.progress, self._progress, durable=False)


def read_progress(folder: RunFolder) -> Progress | None:
    """What a run's newest attempt is doing; None if none has begun, or what it says cannot be read."""
    try:
        return folder.read(folder.progress, Progress)
    except RecordError:
        return None


def answer(folder: RunFolder, question: Question, text: str | None) -> None:
    """Gives a person's answer to a run."""
    folder.write(folder.answer, Answer(number=question.number, text=text))


def is_going(folder: RunFolder) -> bool:
    """Whether a process works on a run: it holds the run's lock for as long as it lives."""
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
