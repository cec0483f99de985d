"""What people write about an experiment: a note and tags, in `notes.json` beside it."""

from __future__ import annotations

import re
import threading
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints

from podium.errors import RecordError
from podium.runs.folder import read_document, write_document
from podium.viewer.discovery import stamp_of

NOTES_FILE = "notes.json"
NOTE_CHARACTERS = 10_000
MOST_TAGS = 20
Tag = Annotated[str, StringConstraints(min_length=1, max_length=40, pattern=r"^[^\s,]+$")]


class Notes(BaseModel):
    """`notes.json`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    note: Annotated[str, StringConstraints(max_length=NOTE_CHARACTERS)] = ""
    tags: tuple[Tag, ...] = ()


def parse_notes(note: str, tags: str) -> Notes:
    """Notes as a person typed them: tags are separated by spaces or commas."""
    names = dict.fromkeys(tag[:40] for tag in re.split(r"[\s,]+", tags) if tag)
    return Notes(note=note.replace("\r\n", "\n").strip()[:NOTE_CHARACTERS], tags=tuple(names)[:MOST_TAGS])


def write_notes(folder: Path, notes: Notes) -> None:
    """Writes all of it or nothing.

    Raises:
        OSError: the folder cannot be written to.
    """
    write_document(folder / NOTES_FILE, notes)


class NoteReader:
    """Reads notes, each file again only when it has changed. May be used from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[Path, tuple[str, Notes]] = {}

    def read(self, folder: Path) -> Notes:
        """The notes of an experiment; empty ones if there are none, or they cannot be read."""
        stamp = stamp_of(folder / NOTES_FILE)
        with self._lock:
            known = self._known.get(folder)
        if known is None or known[0] != stamp:
            known = stamp, _read(folder) if stamp else Notes()
            with self._lock:
                self._known[folder] = known
        return known[1]


def _read(folder: Path) -> Notes:
    try:
        return read_document(folder / NOTES_FILE, Notes) or Notes()
    except RecordError as error:
        return Notes(note=f"These notes cannot be read: {error}"[:NOTE_CHARACTERS])
