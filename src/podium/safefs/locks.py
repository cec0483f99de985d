"""Exclusive locks, complete writes, and the message for a full disk."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

from podium.errors import RecordError

_DISK_FULL_ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_POLL_S = 0.02


def take_lock(descriptor: int, path: Path, *, patience_s: float) -> None:
    """Lock an open file for its only writer; the kernel releases the lock when its last holder exits.

    Waits up to `patience_s` for another writer to end.

    Raises:
        RecordError: another process still holds the lock.
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
    """Write every byte; the rest of a short write is retried, so that the kernel reports the error."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


@contextlib.contextmanager
def explain_full_disk(path: Path) -> Iterator[None]:
    """Turn a full-disk error into a message that says what is intact and what to do."""
    try:
        yield
    except RecordError:
        raise
    except OSError as error:
        if error.errno not in _DISK_FULL_ERRORS:
            raise
        raise RecordError(
            f"The disk is full: {path} cannot grow ({os.strerror(error.errno)}). Everything recorded so far is intact. "
            "Free some space, then run the same command again, with --retry if the run counts as failed."
        ) from error
