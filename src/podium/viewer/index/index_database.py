"""SQLite cache of the index: data read from run folders.

Everything can be recreated from the folders (verifications by verifying again), so a lost, damaged or outdated file is
rebuilt. Several viewers may share it.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from podium.data.home import home

VERSION = 3
"""Version of the tables and of the documents in them."""
PATIENCE_S = 10.0
_TABLES = """
CREATE TABLE experiments (
    name TEXT PRIMARY KEY, stamp TEXT NOT NULL, document TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE runs (
    experiment TEXT NOT NULL, task TEXT NOT NULL, seed INTEGER NOT NULL, position INTEGER NOT NULL, stamp TEXT NOT NULL,
    status TEXT NOT NULL, valid INTEGER NOT NULL, medal TEXT, percentile REAL, steps INTEGER, working_s REAL, cost REAL,
    document TEXT NOT NULL, PRIMARY KEY (experiment, task, seed)
);
CREATE INDEX runs_in_order ON runs (experiment, position);
CREATE INDEX runs_of_task ON runs (task, status, valid, medal);
CREATE TABLE verifications (
    experiment TEXT NOT NULL, task TEXT NOT NULL, seed INTEGER NOT NULL, stamp TEXT NOT NULL, time TEXT NOT NULL,
    checks TEXT NOT NULL, PRIMARY KEY (experiment, task, seed)
) WITHOUT ROWID;
"""
logger = logging.getLogger(__name__)


def index_file(root: Path) -> Path:
    """Return the index file of a folder of experiments, in the user's cache because the folder may be read-only."""
    digest = hashlib.sha256(str(root.resolve()).encode("utf-8", "surrogateescape")).hexdigest()
    return home() / "view" / f"{digest[:24]}.sqlite"


class IndexDatabase:
    """Thread-safe database that is rebuilt empty when it turns out to be damaged."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.RLock()
        self.rebuilds = 0
        """Number of rebuilds; a change invalidates all cached content."""
        self._is_closed = False
        self._connection = self._open()

    def close(self) -> None:
        """Close the file; later queries return no rows."""
        with self._lock:
            self._is_closed = True
            self._connection.close()

    def query(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a query, none if the file had to be rebuilt."""
        with self._lock, self._rebuilt_if_damaged():
            return self._connection.execute(statement, values).fetchall()
        return []

    def execute(self, changes: Iterable[tuple[str, Sequence[Sequence[Any]]]]) -> None:
        """Execute statements, each with its rows of values, in one transaction."""
        with self._lock, self._rebuilt_if_damaged(), self._connection:
            for statement, values in changes:
                self._connection.executemany(statement, values)

    @contextlib.contextmanager
    def _rebuilt_if_damaged(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.ProgrammingError:
            if not self._is_closed:
                raise
        except sqlite3.OperationalError as error:
            if "locked" in str(error):  # another viewer is writing the same content
                logger.warning("The index %s is locked by another program.", self.path)
                return
            self._rebuild(error)
        except sqlite3.DatabaseError as error:
            self._rebuild(error)

    def _open(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            return _connect(self.path)
        except sqlite3.DatabaseError as error:
            return self._replaced(error)

    def _rebuild(self, error: sqlite3.Error) -> None:
        self._connection.close()
        self._connection = self._replaced(error)

    def _replaced(self, error: sqlite3.Error) -> sqlite3.Connection:
        logger.warning("Rebuilding the index %s: %s", self.path, error)
        self.rebuilds += 1
        for suffix in ("", "-journal", "-wal", "-shm"):
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
        return _connect(self.path)


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=PATIENCE_S, check_same_thread=False)
    try:
        connection.execute("PRAGMA synchronous = OFF")  # after a power failure the index is rebuilt
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if version == 0:
                for statement in _TABLES.split(";"):
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {VERSION}")
        if version not in (0, VERSION):
            raise sqlite3.DatabaseError(f"it has version {version}")
        (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        if found != "ok":
            raise sqlite3.DatabaseError(found)
    except BaseException:
        connection.close()
        raise
    return connection
