"""Every error Podium raises on purpose; the message says what is wrong and what to do.

PodiumError
├── UsageError            (ValueError)         the call itself is wrong: exit code 2
│   └── UnknownTaskError  (LookupError)        no such task, suite or family; names the closest ones
├── NotPreparedError      (FileNotFoundError)  the task's data is not there yet
├── RawDataError          (ValueError)         raw data is missing or not what the task expects
├── DownloadError         (OSError)            the competition's data cannot be fetched
├── SandboxGoneError      (ConnectionError)    the sandbox has stopped unexpectedly
├── RecordError           (OSError)            the journal or history of a run cannot be read or written
├── BoardError            (ValueError)         a key, bundle, ledger or answer of a board is not what it should be
│   └── UnreachableError  (ConnectionError)    a board does not answer; what was sent may be sent again
├── MissingExtraError     (ImportError)        an optional dependency is needed for this
└── InvalidSubmission     (ValueError)         a submission's fault; grading turns it into a result
"""

import errno


class PodiumError(Exception):
    """The base of all errors meant for people."""


class UsageError(PodiumError, ValueError):
    """The request makes no sense as it stands."""


class UnknownTaskError(UsageError, LookupError):
    """A name that is neither a task, a suite nor a family."""


class NotPreparedError(PodiumError, FileNotFoundError):
    """The data of a task has not been prepared."""


class RawDataError(PodiumError, ValueError):
    """Raw data is absent or differs from what the task's prepare expects."""


class DownloadError(PodiumError, OSError):
    """The competition's data cannot be fetched."""


class SandboxGoneError(PodiumError, ConnectionError):
    """The sandbox has ended, or can start nothing any more."""


class RecordError(PodiumError, OSError):
    """The journal or the workspace history of a run cannot be read or written."""


class BoardError(PodiumError, ValueError):
    """A key, a signature, a bundle or a ledger is not what it should be."""


class UnreachableError(BoardError, ConnectionError):
    """A board does not answer, or has too much to do; the same may be tried again later."""


class MissingExtraError(PodiumError, ImportError):
    """An optional dependency is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional dependency. Run: pip install 'podium[{extra}]'")


class InvalidSubmission(PodiumError, ValueError):
    """A submission is not of the required form; raised while checking, reported as a result."""


def explain(error: PodiumError | OSError) -> str:
    """What went wrong and what to do about it, also where the system says it and not Podium."""
    if isinstance(error, PodiumError):
        return str(error)
    place = f"{error.filename}: " if error.filename else ""
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT:
            return f"{place}the disk is full. Free some space, or choose another with --out, --data-dir or PODIUM_HOME."
        case errno.EACCES | errno.EPERM | errno.EROFS:
            return f"{place}{error.strerror}. Choose a folder you may write to with --out, --data-dir or PODIUM_HOME."
        case _:
            return f"{place}{error.strerror or error}"
