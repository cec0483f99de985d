"""Reader of the objects of a history, without the git program; looks at nothing but objects.

A stranger's repository can make git run programs, read other files or fetch from a network: through its configuration,
hooks, attributes, references, alternates and links. None of that is ever opened here.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from podium.errors import RecordError
from podium.safefs.open_nofollow import open_folder, open_folder_at, open_regular_at
from podium.workspace.history.git import git_objects
from podium.workspace.history.git.git_packs import CHUNK_BYTES, Content, Pack, inflate

MAX_OBJECT_BYTES = 1 << 28
"""Maximum size of an object that is read into memory: a tree, a snapshot, an action or an agent's state."""
_OPEN_PACKS = 64
_PACK = re.compile(r"(pack-[0-9a-f]{64})\.idx")
_HEADER = re.compile(rb"(blob|tree|commit) (0|[1-9][0-9]{0,18})\0")
_HEADER_BYTES = 32


class Reader:
    """Believes no object whose content does not hash to its name."""

    def __init__(self, repository: Path, *, top: Path | None = None) -> None:
        """
        Args:
            top: folder from which on links are not followed; by default the repository's parent folder.
        """
        self._repository = repository
        self._top = top or repository.parent
        self._folders: dict[str, int] = {}
        self._packs: dict[str, Pack] = {}
        self._opened: dict[str, Pack] = {}

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        for pack in self._opened.values():
            pack.close()
        for descriptor in self._folders.values():
            os.close(descriptor)
        self._opened, self._packs, self._folders = {}, {}, {}

    def size(self, identity: str) -> int:
        """Return the claimed size of an object; only `stream` and `read` check it."""
        pack, place = self._locate(bytes.fromhex(check_id(identity)))
        if pack is not None:
            return pack.size(place)
        try:
            return self._loose(identity, place).size_bytes
        finally:
            os.close(place)

    def read(self, identity: str, expected: bytes, *, limit_bytes: int = MAX_OBJECT_BYTES) -> bytes:
        """Return the content of an object of the expected kind.

        Raises:
            RecordError: it is missing, damaged, too large, or not of the expected kind.
        """
        pieces: list[bytes] = []
        if self._hand_over(identity, pieces.append, limit_bytes) != expected:
            raise RecordError(f"Object {identity} of {self._repository} is not a {expected.decode()}.")
        return b"".join(pieces)

    def stream(self, identity: str, sink: Callable[[bytes], object]) -> bytes:
        """Pass an object's content to `sink` in pieces, and return its kind.

        Raises:
            RecordError: it is missing, or what was handed over is not what the name promises.
        """
        return self._hand_over(identity, sink, None)

    def _hand_over(self, identity: str, sink: Callable[[bytes], object], limit_bytes: int | None) -> bytes:
        name = bytes.fromhex(check_id(identity))
        pack, place = self._locate(name)
        try:
            content = pack.read(place) if pack is not None else self._loose(identity, place)
            if limit_bytes is not None and content.size_bytes > limit_bytes:
                size = f"{content.size_bytes:,} bytes; at most {limit_bytes:,} are read"
                raise RecordError(f"Object {identity} of {self._repository} has {size}.")
            digest = hashlib.sha256(git_objects.header(content.kind, content.size_bytes))
            for piece in content.pieces:
                digest.update(piece)
                sink(piece)
        finally:
            if pack is None:
                os.close(place)
        if digest.digest() != name:
            raise self._missing(identity)
        return content.kind

    def _loose(self, identity: str, descriptor: int) -> Content:
        """Return the content of a loose object file."""
        start = os.read(descriptor, CHUNK_BYTES)
        header = _HEADER.match(b"".join(inflate((start,), _HEADER_BYTES)))
        if header is None:
            raise self._missing(identity)
        size = int(header[2])
        chunks = itertools.chain((start,), iter(lambda: os.read(descriptor, CHUNK_BYTES), b""))
        return Content(header[1], size, _after(header.end(), inflate(chunks, header.end() + size)))

    def _locate(self, name: bytes) -> tuple[Pack, int] | tuple[None, int]:
        """Return the location of an object: its offset in a pack, or a descriptor of its own file, to be closed.

        What a writer packs meanwhile is found too: packs are listed again if an object is nowhere else.
        """
        found = self._in_packs(name)
        if found is not None:
            return found
        descriptor = self._open_loose(name.hex())
        if descriptor is not None:
            return None, descriptor
        self._list_packs()
        found = self._in_packs(name)
        if found is None:
            raise self._missing(name.hex())
        return found

    def _open_loose(self, name: str) -> int | None:
        folder = self._folder(name[:2])
        try:
            return None if folder is None else open_regular_at(folder, name[2:])
        except OSError:
            return None

    def _in_packs(self, name: bytes) -> tuple[Pack, int] | None:
        for pack in self._packs.values():
            offset = pack.find(name)
            if offset is not None and self._open(pack):
                return pack, offset
        return None

    def _folder(self, name: str) -> int | None:
        """Return the descriptor of a subfolder of the object folder, or None; each is opened once."""
        if name not in self._folders:
            try:
                if "" not in self._folders:
                    self._folders[""] = open_folder(self._repository / "objects", top=self._top)
                self._folders[name] = open_folder_at(self._folders[""], name)
            except OSError:
                return None
        return self._folders[name]

    def _list_packs(self) -> None:
        folder = self._folder("pack")
        if folder is None:
            return
        listed = {found[1] for found in map(_PACK.fullmatch, os.listdir(folder)) if found}  # noqa: PTH208
        self._packs = {name: pack for name, pack in self._packs.items() if name in listed | self._opened.keys()}
        for name in listed - self._packs.keys():
            with contextlib.suppress(OSError):  # it may be gone by now
                self._packs[name] = Pack(folder, name)

    def _open(self, pack: Pack) -> bool:
        """Open a pack's data, closing the oldest if too many are open; return False if it is gone."""
        if pack.name in self._opened:
            return True
        try:
            pack.open(self._folders["pack"])
        except OSError:
            return False
        if len(self._opened) == _OPEN_PACKS:
            self._opened.pop(next(iter(self._opened))).close()
        self._opened[pack.name] = pack
        return True

    def _missing(self, identity: str) -> RecordError:
        return RecordError(f"Object {identity} of {self._repository} is missing or damaged.")


def _after(count: int, pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the data after the first `count` bytes."""
    for piece in pieces:
        yield piece[count:]
        count = max(0, count - len(piece))


def check_id(identity: str) -> str:
    """Return the id of an object if it is well-formed.

    Raises:
        RecordError: it is not.
    """
    if not re.fullmatch(r"[0-9a-f]{64}", identity):
        raise RecordError(f"{identity!r:.100} is not the id of a snapshot: 64 hexadecimal digits are expected.")
    return identity
