"""Mirror: synchronizes a run's folder with its log in storage, in either direction.

Storage always contains everything that the journal refers to: the journal and the documents are read first, then all
snapshots in the folder are stored, and the log entry that makes them valid is written last.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from podium.cluster.stored_log import Kind, LostRunError, RunLog, RunLogEntry
from podium.errors import RecordError
from podium.runs.run_folder import RunFolder
from podium.safefs.atomic_files import write_atomically
from podium.safefs.remove_tree import remove_tree

DOCUMENTS = ("run.json", "decision.json", "history/head")
PRODUCTS = ("submission.csv", "submission", "logs", "worker.log")
_SEGMENTS = "history/segments"
_MAX_ENTRY_BYTES = 16 << 20
"""Maximum journal growth in one entry; a larger one is split into several."""


class Mirror:
    """Synchronizes one run; its attributes reflect the content of the log."""

    def __init__(self, folder: RunFolder, log: RunLog, *, is_copy: bool = False) -> None:
        """
        Args:
            is_copy: other processes read the folder while it follows the log. Its record then shows the end of the run
            only once all files of the run are here, because readers do not look at an ended run again.
        """
        self.folder, self.log = folder, log
        self._is_copy = is_copy
        self._held_back: str | None = None
        """Record of an ended run whose files are not complete yet."""
        self._journal_bytes = 0
        self._documents: dict[str, str] = {}
        self._blobs: set[str] = set()
        self._products: dict[str, str] = {}
        """Storage names of products that have not been fetched."""

    def document(self, name: str) -> str | None:
        """Return a document as stored in the log."""
        return self._documents.get(name)

    @property
    def is_behind(self) -> bool:
        """Return whether the folder's journal continues beyond the log's end."""
        return bool(self._read_journal())

    def take(self, kind: Kind = "taken", *, blobs: bool, **parts: Any) -> None:
        """Bring the folder to the state of the log and take ownership of the run."""
        while True:
            self.pull(blobs=blobs)
            with suppress(LostRunError):
                self.log.take(kind, **parts)
                return

    def pull(self, *, blobs: bool, products: bool = False) -> bool:
        """Bring the folder to the state of the log; return whether anything was new.

        Args:
            blobs: also fetch snapshots, including those of entries read earlier.

        Raises:
            RecordError: the folder's journal differs from the log's, or a snapshot is missing.
        """
        entries = self._read_entries()
        while blobs and (missing := self._fetch_blobs()):
            later = self._read_entries()  # the history may have been packed in the meantime
            if not later:
                raise RecordError(f"{missing} of {self.log.prefix} is missing from {self.log.storage.url}.")
            entries += later
        for entry in entries:
            self._take_in(entry)
        if products:
            self._fetch_products()
            if self._held_back is not None:
                write_atomically(self.folder.record, self._held_back, durable=False)
                self._held_back = None
        return bool(entries)

    def push(self, kind: Kind = "grown", *, reason: str | None = None) -> bool:
        """Store everything that the log lacks; return whether there was anything. Requires ownership.

        Raises:
            LostRunError: another process owns the run.
        """
        ends = kind != "grown"
        documents = self._changed_documents()
        if not ends and _has_ended(documents.get("run.json")):
            del documents["run.json"]  # stored with the products in one entry, since no process continues an ended run
        journal = self._read_journal()
        while len(journal) > _MAX_ENTRY_BYTES:
            cut = journal.rfind(b"\n", 0, _MAX_ENTRY_BYTES) + 1
            self._append("grown", journal[:cut], {}, ends=False)
            journal = journal[cut:]
        if ends or journal or documents:
            self._append(kind, journal, documents, ends=ends, reason=reason)
        return bool(ends or journal or documents)

    def _append(
        self, kind: Kind, journal: bytes, documents: dict[str, str], *, ends: bool, reason: str | None = None
    ) -> None:
        present = set(self._present_blobs())
        for name in sorted(present - self._blobs):
            self.log.storage.upload(self.log.prefix + name, self.folder.path / name)
        gone = self._blobs - present
        listed = present if gone else present - self._blobs
        self.log.append(
            kind,
            journal=journal.decode("ascii"),
            documents=documents,
            blobs=tuple(sorted(listed)),
            replaces=bool(gone),
            products=self._store_products() if ends else (),
            reason=reason,
        )
        for name in gone:
            self.log.storage.remove(self.log.prefix + name)
        self._blobs = present
        self._documents |= documents
        self._journal_bytes += len(journal)

    def _store_products(self) -> tuple[str, ...]:
        """Store the products under the owner's generation; those not in its last entry are ignored."""
        found = []
        for top in PRODUCTS:
            path = self.folder.path / top
            for file in [path] if path.is_file() else sorted(path.rglob("*")):
                if file.is_file() and not file.is_symlink():
                    name = file.relative_to(self.folder.path).as_posix()
                    self.log.storage.upload(f"{self.log.prefix}products/{self.log.owned}/{name}", file)
                    found.append(name)
        return tuple(found)

    def _changed_documents(self) -> dict[str, str]:
        found = {}
        for name in DOCUMENTS:
            try:
                text = (self.folder.path / name).read_text(encoding="utf-8")
            except FileNotFoundError:
                continue
            if text != self._documents.get(name):
                found[name] = text
        return found

    def _read_journal(self) -> bytes:
        """Return the complete journal lines that the log lacks."""
        try:
            with self.folder.journal.open("rb") as file:
                file.seek(self._journal_bytes)
                data = file.read()
        except FileNotFoundError:
            return b""
        return data[: data.rfind(b"\n") + 1]

    def _present_blobs(self) -> Iterator[str]:
        """Yield the segments of the history; they never change once they have their name."""
        with suppress(FileNotFoundError):
            for path in (self.folder.path / _SEGMENTS).iterdir():
                if path.suffix == ".seg":
                    yield f"{_SEGMENTS}/{path.name}"

    def _read_entries(self) -> list[RunLogEntry]:
        """Read new log entries and update the set of blobs."""
        entries = list(self.log.read_new())
        for entry in entries:
            if entry.replaces:
                for name in self._blobs - set(entry.blobs):
                    (self.folder.path / name).unlink(missing_ok=True)
                self._blobs.clear()
            self._blobs |= set(entry.blobs)
            self._products |= {name: f"products/{entry.generation}/{name}" for name in entry.products}
        return entries

    def _take_in(self, entry: RunLogEntry) -> None:
        for name, text in entry.documents.items():
            if self._is_copy and name == "run.json":
                self._held_back = text if _has_ended(text) else None
                if self._held_back is not None:
                    continue
            (self.folder.path / name).parent.mkdir(parents=True, exist_ok=True)
            write_atomically(self.folder.path / name, text, durable=False)
        self._documents |= entry.documents
        if entry.journal:
            self._extend_journal(entry.journal.encode("ascii"))

    def _extend_journal(self, lines: bytes) -> None:
        descriptor = os.open(self.folder.journal, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            known = os.pread(descriptor, len(lines), self._journal_bytes)
            if not lines.startswith(known):
                raise RecordError(
                    f"{self.folder.path} was continued on this machine while a cluster worked on it. Delete this "
                    f"folder to use the version in {self.log.storage.url}"
                )
            os.pwrite(descriptor, lines, self._journal_bytes)
        finally:
            os.close(descriptor)
        self._journal_bytes += len(lines)

    def _fetch_blobs(self) -> str | None:
        """Fetch missing blobs; return the name of one that storage lacks, or None."""
        for name in sorted(self._blobs):
            if not (self.folder.path / name).exists():
                try:
                    self._fetch(name, name)
                except FileNotFoundError:
                    return name
        return None

    def _fetch_products(self) -> None:
        if any(name.startswith("submission") for name in self._products):
            remove_tree(self.folder.submission)
            remove_tree(self.folder.files)
        for name, stored in self._products.items():
            self._fetch(stored, name)
        self._products.clear()

    def _fetch(self, stored: str, name: str) -> None:
        target = self.folder.path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        aside = target.with_name(f"tmp_{secrets.token_hex(8)}")
        self.log.storage.download(self.log.prefix + stored, aside)
        target.unlink(missing_ok=True)  # renaming a hard link to another link of the same file keeps both
        aside.replace(target)


def _has_ended(record: str | None) -> bool:
    """Return whether a record exists and its run has ended."""
    return record is not None and json.loads(record)["status"] != "running"
