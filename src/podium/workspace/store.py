"""The git directory that holds snapshots: laid out, locked, written to and packed by us, readable with plain git."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

from podium.errors import RecordError
from podium.workspace import git, objects
from podium.workspace.locks import take_lock, write_all

_CONFIG = "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectformat = sha256\n"
_MAIN = "ref: refs/heads/main\n"
_LOOSE_AT_MOST = 48
_PENDING_BYTES = 32 * 1024 * 1024
_CHUNK_BYTES = 1024 * 1024
_LEFTOVERS = ("tmp_*", "objects/tmp_*", "objects/pack/tmp_*", "objects/pack/.tmp-*")


class Store:
    """Objects go in through `add` and `flush`; nothing is visible before its whole content is on disk under its name.

    Few objects become loose files, many become one pack: a pack saves the block that each small file would fill.
    """

    def __init__(self, repository: Path, *, patience_s: float = 30) -> None:
        self.repository = repository
        self._root = str(repository)
        self.known: set[bytes] = set()
        """Every object that is stored or will be with the next `flush`; filled by `begin_writing`."""
        self.size_bytes = 0
        """What the objects take up; known once writing has begun."""
        self._patience_s = patience_s
        self._lock: int | None = None
        self.pending_bytes = 0
        """What was added since the last `flush`."""
        self.added_bytes = 0
        """What was added in all, before compression."""
        self._pending: list[objects.Packable] = []
        self._names = itertools.count()
        if (repository / "HEAD").exists():
            _refuse_foreign(repository)

    def close(self) -> None:
        """Lets another process write."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def begin_writing(self) -> None:
        """Makes this process the only writer, lays the directory out and clears away what a killed writer left."""
        if self._lock is not None:
            return
        self.repository.mkdir(parents=True, exist_ok=True)
        path = self.repository / "podium.lock"
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            take_lock(lock, path, patience_s=self._patience_s)
            self._lay_out()
            self._clear_leftovers()
            self._take_stock()
        except BaseException:
            os.close(lock)
            raise
        self._lock = lock

    def add(self, kind: bytes, data: bytes) -> bytes:
        """The id of an object that the next `flush` stores."""
        identity = objects.object_id(kind, data)
        if identity not in self.known:
            self.known.add(identity)
            self._pending.append(objects.Packable(identity, kind, len(data), data))
            self.pending_bytes += len(data)
            self.added_bytes += len(data)
            if self.pending_bytes > _PENDING_BYTES:
                self.flush()
        return identity

    def add_stream(self, read: Callable[[int], bytes], size_bytes: int) -> bytes | None:
        """The id of a blob stored at once, without ever holding it in memory; None if it ends before its size."""
        head = objects.header(objects.BLOB, size_bytes)
        digest, left = hashlib.sha256(head), size_bytes
        with self._written_aside() as (file, aside):
            first = read(min(left, _CHUNK_BYTES))
            packer = zlib.compressobj(objects.level_for(first))
            write_all(file, packer.compress(head))
            piece = first
            while piece:
                left -= len(piece)
                digest.update(piece)
                write_all(file, packer.compress(piece))
                piece = read(min(left, _CHUNK_BYTES)) if left else b""
            if left:
                Path(aside).unlink()
                return None
            write_all(file, packer.flush())
            self._place(aside, _loose_name(digest.digest()), os.fstat(file).st_size)
        self.known.add(digest.digest())
        self.added_bytes += size_bytes
        return digest.digest()

    def flush(self) -> None:
        """Stores what was added; after an error nothing that was pending counts as known."""
        items, self._pending, self.pending_bytes = self._pending, [], 0
        try:
            if len(items) > _LOOSE_AT_MOST:
                self._write_pack(objects.encode_pack(items))
            else:
                for item in items:
                    self._write_loose(item)
        except BaseException:
            self.known.difference_update(item.id for item in items)
            raise

    def forget_pending(self) -> None:
        """Drops what was added since the last `flush`."""
        self.known.difference_update(item.id for item in self._pending)
        self._pending, self.pending_bytes = [], 0

    def require(self, identity: str) -> str:
        """The name of an object that must be stored already.

        Raises:
            RecordError: it is not.
        """
        if bytes.fromhex(git.check_id(identity)) not in self.known:
            raise RecordError(f"{self.repository} holds no snapshot {identity}.")
        return identity

    def head(self) -> str | None:
        """The newest commit."""
        try:
            return git.check_id((self.repository / "refs/heads/main").read_text(encoding="ascii").strip())
        except FileNotFoundError:
            return None

    def move_head(self, commit: str) -> None:
        """Makes `commit` the newest."""
        line = commit.encode() + b"\n"
        try:
            # Overwriting these bytes is one call; a rename over a file makes some file systems write it to disk.
            file = os.open(self._root + "/refs/heads/main", os.O_WRONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            self._write_file("refs/heads/main", line)
            return
        try:
            os.pwrite(file, line, 0)
        finally:
            os.close(file)

    def reader(self) -> git.Reader:
        """Reads objects back."""
        return git.Reader(self.repository)

    def compact(self) -> None:
        """Packs every object into one file, similar ones as differences; what no commit reaches is kept too.

        Raises:
            RecordError: git could not; nothing is lost then.
        """
        self.begin_writing()
        self._repack()
        if any(len(folder.name) == 2 for folder in (self.repository / "objects").iterdir()):
            self._repack()  # git takes in loose objects that no commit reaches only if there was a pack before

    def _repack(self) -> None:
        assert self._lock is not None
        with git.start(self.repository, "repack", "-a", "-d", "-k", "-q", "-n", keep=(self._lock,)) as process:
            process.communicate()
        self._clear_leftovers()
        self._take_stock()
        if process.returncode:
            raise RecordError(f"git repack failed on {self.repository}: is the disk full? Every snapshot is intact.")

    def _lay_out(self) -> None:
        for folder in ("objects/pack", "refs/heads"):
            (self.repository / folder).mkdir(parents=True, exist_ok=True)
        for name, text in (("config", _CONFIG), ("HEAD", _MAIN)):
            if not (self.repository / name).exists():
                self._write_file(name, text.encode())
        _refuse_foreign(self.repository)

    def _clear_leftovers(self) -> None:
        for pattern in _LEFTOVERS:
            for path in self.repository.glob(pattern):
                path.unlink(missing_ok=True)
        # An index is the last file of a pack to be put in place.
        for path in (self.repository / "objects/pack").glob("*.pack"):
            if not path.with_suffix(".idx").exists():
                path.unlink()

    def _take_stock(self) -> None:
        self.known.clear()
        self.size_bytes = 0
        for folder in os.scandir(self.repository / "objects"):
            if not folder.is_dir(follow_symlinks=False):
                continue
            for file in os.scandir(folder):
                size_bytes = file.stat().st_size
                if not size_bytes:  # the trace of a power cut
                    Path(file.path).unlink()
                    continue
                self.size_bytes += size_bytes
                if len(folder.name + file.name) == 2 * objects.ID_BYTES:
                    self.known.add(bytes.fromhex(folder.name + file.name))
                elif file.name.endswith(".idx"):
                    self.known.update(objects.ids_of_index(Path(file.path).read_bytes()))

    def _write_loose(self, item: objects.Packable) -> None:
        self._write_file(_loose_name(item.id), objects.encode_loose(item))

    def _write_pack(self, pack: objects.Pack) -> None:
        self._write_file(f"objects/pack/pack-{pack.name}.pack", pack.content)
        self._write_file(f"objects/pack/pack-{pack.name}.idx", pack.table)

    def _write_file(self, name: str, data: bytes) -> None:
        with self._written_aside() as (file, aside):
            write_all(file, data)
            self._place(aside, name, len(data))

    def _place(self, aside: str, name: str, size_bytes: int) -> None:
        target = f"{self._root}/{name}"
        try:
            os.rename(aside, target)  # noqa: PTH104 making a Path takes as long as the rename
        except FileNotFoundError:
            Path(target).parent.mkdir(exist_ok=True)
            Path(aside).replace(target)
        self.size_bytes += size_bytes

    @contextlib.contextmanager
    def _written_aside(self) -> Iterator[tuple[int, str]]:
        """A new file, open for writing, and its path; gone at the end if it has not been put in place."""
        aside = f"{self._root}/tmp_{os.getpid()}_{next(self._names)}"
        file = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        try:
            yield file, aside
        except BaseException:
            Path(aside).unlink(missing_ok=True)
            raise
        finally:
            os.close(file)


def _loose_name(identity: bytes) -> str:
    name = identity.hex()
    return f"objects/{name[:2]}/{name[2:]}"


def _refuse_foreign(repository: Path) -> None:
    # A repository's own configuration can make git run programs; ours never needs more than these lines.
    strange = [name for name in ("commondir", "objects/info/alternates") if (repository / name).exists()]
    try:
        if (repository / "config").read_text(encoding="utf-8", errors="replace") == _CONFIG and not strange:
            return
    except FileNotFoundError:
        pass
    raise RecordError(f"{repository} is not a history that Podium wrote: its configuration differs.")
