"""Writing: one process at a time, all of it, and what a full disk is called."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

from podium.errors import RecordError

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_POLL_S = 0.02


def take_lock(descriptor: int, path: Path, *, patience_s: float) -> None:
    """Locks an open file for its only writer; the kernel frees it when the last process that holds it is gone.

    Patience is for what a killed writer has left behind: its `git repack` holds the lock until it ends.

    Raises:
        RecordError: another process keeps writing.
    """
    deadline = time.monotonic() + patience_s
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise RecordError(f"Another process is writing to {path}. Wait for it to end, or stop it.") from None
            time.sleep(_POLL_S)


def write_all(descriptor: int, data: bytes) -> None:
    """Writes every byte; the rest of a short write is tried once more, so that the kernel says why it stopped."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


@contextlib.contextmanager
def full_disk_explained(path: Path) -> Iterator[None]:
    """Turns a full disk into a message that says what still holds and what to do."""
    try:
        yield
    except RecordError:
        raise
    except OSError as error:
        if error.errno not in _FULL:
            raise
        raise RecordError(
            f"The disk is full: {path} cannot grow ({os.strerror(error.errno)}). What was recorded before is intact. "
            "Free some space, then run the same command again, with --retry if the run counts as failed."
        ) from error
