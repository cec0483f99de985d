"""Keeps a run's folder and its log in storage alike: from the log to the folder, or from the folder to the log.

Storage always holds what the journal speaks of: the journal and the documents are read first, then every snapshot that
lies in the folder is stored, and last the entry is written that makes it all count.
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

_GIT = tuple(f"workspace.git/{name}" for name in ("config", "HEAD", "refs/heads/main"))
DOCUMENTS = ("run.json", "decision.json", *_GIT)
PRODUCTS = ("submission.csv", "submission", "logs", "worker.log")
_OBJECTS = "workspace.git/objects"
_ENTRY_BYTES = 16 << 20
"""A journal that grew by more is stored in several entries."""


class Mirror:
    """One run. What it remembers is what the log holds."""

    def __init__(self, folder: RunFolder, log: RunLog, *, is_copy: bool = False) -> None:
        """
        Args:
            is_copy: whether others read the folder while it follows the log. Then its record says that the run has
                ended only once all that belongs to it is here: nobody asks for more of such a run.
        """
        self.folder, self.log = folder, log
        self._is_copy = is_copy
        self._held_back: str | None = None
        """A record that says so before."""
        self._journal_bytes = 0
        self._documents: dict[str, str] = {}
        self._blobs: set[str] = set()
        self._products: dict[str, str] = {}
        """Where those that are not here yet lie in storage."""

    def document(self, name: str) -> str | None:
        """A document as the log has it."""
        return self._documents.get(name)

    @property
    def is_behind(self) -> bool:
        """Whether the folder's journal goes on where the log's ends."""
        return bool(self._read_journal())

    def take(self, kind: Kind = "taken", *, blobs: bool, **parts: Any) -> None:
        """Brings the folder to where the log is and makes us its owner there."""
        while True:
            self.pull(blobs=blobs)
            with suppress(LostRunError):
                self.log.take(kind, **parts)
                return

    def pull(self, *, blobs: bool, products: bool = False) -> bool:
        """Brings the folder to where the log is; whether there was anything new.

        Args:
            blobs: whether snapshots are fetched too, now and for entries read before.

        Raises:
            RecordError: the folder holds a journal that is not the log's, or a snapshot is missing.
        """
        entries = self._read_entries()
        while blobs and (missing := self._fetch_blobs()):
            later = self._read_entries()  # the history may have been packed meanwhile
            if not later:
                raise RecordError(f"{missing} of {self.log.prefix} is missing in {self.log.storage.url}.")
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
        """Stores what the folder has and the log has not; whether there was anything. The log must be ours.

        Raises:
            LostRunError: it is not ours any more.
        """
        ends = kind != "grown"
        documents = self._changed_documents()
        if not ends and _has_ended(documents.get("run.json")):
            del documents["run.json"]  # it is stored with the products, in one entry: nobody continues such a run
        journal = self._read_journal()
        while len(journal) > _ENTRY_BYTES:
            cut = journal.rfind(b"\n", 0, _ENTRY_BYTES) + 1
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
        """Under the owner's generation: what is not in its last entry is never looked at."""
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
        """The whole lines that the log does not have yet."""
        try:
            with self.folder.journal.open("rb") as file:
                file.seek(self._journal_bytes)
                data = file.read()
        except FileNotFoundError:
            return b""
        return data[: data.rfind(b"\n") + 1]

    def _present_blobs(self) -> Iterator[str]:
        top = self.folder.path / _OBJECTS
        for folder, _, names in os.walk(top):
            below = os.path.relpath(folder, self.folder.path)
            # An index is put in place after its pack: first seen, both are there.
            whole = {name for name in names if not name.endswith(".pack") or f"{name[:-5]}.idx" in names}
            yield from (f"{below}/{name}" for name in whole if not name.startswith(("tmp_", ".tmp-")))

    def _read_entries(self) -> list[RunLogEntry]:
        """What is new in the log, and with it which blobs there are now."""
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
                    f"{self.folder.path} was continued on this machine while a cluster worked on it. Keep one of the "
                    f"two: delete {self.folder.path} to take what lies in {self.log.storage.url}"
                )
            os.pwrite(descriptor, lines, self._journal_bytes)
        finally:
            os.close(descriptor)
        self._journal_bytes += len(lines)

    def _fetch_blobs(self) -> str | None:
        """Fetches the blobs that are not here; the name of one that storage does not have, if any."""
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
        target.unlink(missing_ok=True)  # renaming one link of a file to another leaves both
        aside.replace(target)


def _has_ended(record: str | None) -> bool:
    """Whether a record, if there is one, says that its run has ended."""
    return record is not None and json.loads(record)["status"] != "running"
