"""SQLite index of a ledger, rebuilt from the ledger's files if it is missing."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from podium.errors import BoardError

if TYPE_CHECKING:
    from podium.board.ledger.ledger import LedgerEntry

_SCHEMA = """
CREATE TABLE IF NOT EXISTS entries (
    number INTEGER PRIMARY KEY, digest TEXT UNIQUE, kind TEXT, key TEXT, time TEXT, leaf BLOB, bundle TEXT
);
CREATE INDEX IF NOT EXISTS bundles ON entries (bundle) WHERE bundle IS NOT NULL;
"""


class LedgerIndex:
    """Thread-safe index of the numbers, keys and leaf hashes of all entries."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        self._database = sqlite3.connect(path, check_same_thread=False, timeout=30)
        try:
            self._database.execute("PRAGMA journal_mode=WAL")
            self._database.executescript(_SCHEMA)
        except sqlite3.DatabaseError as error:
            self._database.close()
            raise BoardError(f"{path} is damaged ({error}). Delete it; it is rebuilt from the ledger.") from error

    def close(self) -> None:
        self._database.close()

    def leaves(self) -> Iterator[bytes]:
        """Return the leaf hashes in order."""
        return (row[0] for row in self._database.execute("SELECT leaf FROM entries ORDER BY number"))

    def last_time(self) -> str:
        """Return the time of the last entry, "" for an empty ledger."""
        return self._value("SELECT time FROM entries ORDER BY number DESC LIMIT 1") or ""

    def find(self, digest: str) -> int | None:
        """Return the number of the entry with a statement's digest, or None."""
        found = self._value("SELECT number FROM entries WHERE digest = ?", digest)
        return None if found is None else int(found)

    def require(self, digest: str) -> int:
        found = self.find(digest)
        if found is None:
            raise BoardError(f"Entry {digest} does not exist on this board.")
        return found

    def key_of(self, registration: str) -> str | None:
        """Return the key that signed a registration, or None."""
        return self._value("SELECT key FROM entries WHERE digest = ? AND kind = 'registration'", registration)

    def is_known(self, bundle: str) -> bool:
        """Return whether any statement concerns a bundle."""
        return self._value("SELECT number FROM entries WHERE bundle = ? LIMIT 1", bundle) is not None

    def is_published(self, bundle: str) -> bool:
        """Return whether the ledger has a publication of a bundle."""
        query = "SELECT number FROM entries WHERE bundle = ? AND kind = 'publication' LIMIT 1"
        return self._value(query, bundle) is not None

    def clear(self) -> None:
        """Delete all rows."""
        with self._lock, self._database:
            self._database.execute("DELETE FROM entries")

    def add(self, entries: Sequence[LedgerEntry]) -> None:
        """Add entries, ignoring existing ones."""
        rows = [
            (
                *(entry.number, entry.digest, entry.statement.kind, entry.signed.key, entry.time, entry.leaf),
                getattr(entry.statement, "bundle", None),
            )
            for entry in entries
        ]
        with self._lock, self._database:
            self._database.executemany("INSERT OR IGNORE INTO entries VALUES (?, ?, ?, ?, ?, ?, ?)", rows)

    def _value(self, query: str, *values: str) -> str | None:
        with self._lock:
            row = self._database.execute(query, values).fetchone()
        return None if row is None else row[0]
