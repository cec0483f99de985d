"""Exception hierarchy of Podium; each message states the problem and how to fix it.

PodiumError
├── UsageError            (ValueError)         wrong usage or arguments: exit code 2
│   └── UnknownTaskError  (LookupError)        no such task, suite or family
├── NotPreparedError      (FileNotFoundError)  the data of a task is not prepared
├── RawDataError          (ValueError)         raw data is missing or unexpected
├── DownloadError         (OSError)            data cannot be downloaded
├── SandboxGoneError      (ConnectionError)    the sandbox has ended unexpectedly
├── RecordError           (OSError)            the journal or history of a run cannot be read or written
├── BoardError            (ValueError)         invalid key, signature, bundle, ledger or response of a board
│   └── UnreachableError  (ConnectionError)    a board does not respond; the request can be retried
├── MissingExtraError     (ImportError)        an optional dependency is not installed
└── InvalidSubmission     (ValueError)         invalid submission; grading returns it as a result
"""

import errno


class PodiumError(Exception):
    """Base class of all errors with a message for the user."""


class UsageError(PodiumError, ValueError):
    """Wrong usage: arguments that are invalid or contradict each other."""


class UnknownTaskError(UsageError, LookupError):
    """Unknown name of a task, suite or family."""


class NotPreparedError(PodiumError, FileNotFoundError):
    """Missing data of a task that has not been prepared."""


class RawDataError(PodiumError, ValueError):
    """Raw data that is missing or differs from what the task expects."""


class DownloadError(PodiumError, OSError):
    """Failed download of data."""


class SandboxGoneError(PodiumError, ConnectionError):
    """Sandbox that has ended or can no longer start programs."""


class RecordError(PodiumError, OSError):
    """Journal or workspace history of a run that cannot be read or written."""


class BoardError(PodiumError, ValueError):
    """Invalid key, signature, bundle, ledger or response of a board."""


class UnreachableError(BoardError, ConnectionError):
    """Board that does not respond or is overloaded; the request can be retried."""


class MissingExtraError(PodiumError, ImportError):
    """Missing optional dependency."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs an optional dependency. Run: pip install 'podium[{extra}]'")


class InvalidSubmission(PodiumError, ValueError):
    """Submission without the required format; raised by the check and reported as a result."""


def explain(error: PodiumError | OSError) -> str:
    """Return the message of an error; for errors of the operating system, with a hint how to fix it."""
    if isinstance(error, PodiumError):
        return str(error)
    path = f"{error.filename}: " if error.filename else ""
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT:
            hint = "Free some space, or choose another disk with --out, --data-dir or PODIUM_HOME."
            return f"{path}the disk is full. {hint}"
        case errno.EACCES | errno.EPERM | errno.EROFS:
            return f"{path}{error.strerror}. Choose a writable folder with --out, --data-dir or PODIUM_HOME."
        case _:
            return f"{path}{error.strerror or error}"
