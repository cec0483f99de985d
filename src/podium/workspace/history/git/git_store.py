"""The git directory that holds snapshots: laid out, locked, written to and packed by us, readable with plain git."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import re
import shutil
import tempfile
import zlib
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from podium.errors import RecordError
from podium.safefs.locks import take_lock, write_all
from podium.safefs.open_nofollow import open_folder, open_folder_at, open_regular_at, read_regular
from podium.workspace.history.git import git_objects, git_program
from podium.workspace.history.git.git_reader import Reader, check_id

_LOOSE_AT_MOST = 48
_PENDING_BYTES = 32 * 1024 * 1024
_CHUNK_BYTES = 1024 * 1024
_INDEX_BYTES = 1 << 30
_REPACK = ("-c", "core.bigFileThreshold=256k")
"""A search for differences between larger blobs takes seconds and saves little."""
_FOLDERS = re.compile(r"refs|refs/heads|objects|objects/pack|objects/[0-9a-f]{2}")
_FILES = re.compile(r"config|HEAD|podium\.lock|refs/heads/main")
_OBJECTS = re.compile(r"objects/(?:([0-9a-f]{2})/([0-9a-f]{62})|pack/pack-[0-9a-f]{64}\.(?:pack|idx))")
_LEFTOVERS = re.compile(r"(?:objects/(?:[0-9a-f]{2}/)?)?tmp_.*|objects/pack/(?:tmp_|\.tmp-).*")


class Store:
    """Object store: nothing is visible before its whole content is on disk under its name.

    Few objects become loose files, many become one pack: a pack saves the block that each small file would fill.
    """

    def __init__(self, repository: Path, *, patience_s: float = 30, top: Path | None = None) -> None:
        """
        Args:
            patience_s: how long the first write waits for another writer to end.
            top: folder from which on links are not followed; by default the repository's parent folder.
        """
        self.repository = repository
        self._top = top
        self.known: set[bytes] = set()
        """Every object that is stored or will be with the next `flush`; filled by `begin_writing`."""
        self.size_bytes = 0
        """Size of all objects on disk; known once writing has begun."""
        self._patience_s = patience_s
        self._lock: int | None = None
        self._folder = -1
        self.pending_bytes = 0
        """Size of the content added since the last `flush`."""
        self.added_bytes = 0
        """Size of all content added, before compression."""
        self._pending: list[git_objects.Packable] = []
        self._names = itertools.count()

    def close(self) -> None:
        """Release the lock, so that another process can write."""
        if self._lock is not None:
            os.close(self._lock)
            os.close(self._folder)
            self._lock = None

    def begin_writing(self) -> None:
        """Lock the store for writing, create its folders and remove leftovers of a killed writer.

        Raises:
            RecordError: another process writes, or the directory holds what Podium does not put there.
        """
        if self._lock is not None:
            return
        with contextlib.ExitStack() as opened:
            self._folder = self._open_folder()
            opened.callback(os.close, self._folder)
            lock = open_regular_at(self._folder, "podium.lock", os.O_RDWR | os.O_CREAT)
            opened.callback(os.close, lock)
            take_lock(lock, self.repository / "podium.lock", patience_s=self._patience_s)
            self._lay_out()
            self._take_stock()
            opened.pop_all()
        self._lock = lock

    def _open_folder(self) -> int:
        top = self._top or self.repository.parent
        top.mkdir(parents=True, exist_ok=True)
        try:
            return open_folder(self.repository, top=top, make=True)
        except OSError as error:
            raise RecordError(f"{self.repository} cannot be opened: {error.strerror}.") from error

    def add(self, kind: bytes, data: bytes) -> bytes:
        """Queue an object for the next `flush` and return its id."""
        identity = git_objects.object_id(kind, data)
        if identity not in self.known:
            self.known.add(identity)
            self._pending.append(git_objects.Packable(identity, kind, len(data), data))
            self.pending_bytes += len(data)
            self.added_bytes += len(data)
            if self.pending_bytes > _PENDING_BYTES:
                self.flush()
        return identity

    def add_stream(self, read: Callable[[int], bytes], size_bytes: int) -> bytes | None:
        """Store a blob from a stream without loading it into memory; return its id, or None if it is too short."""
        head = git_objects.header(git_objects.BLOB, size_bytes)
        digest, left = hashlib.sha256(head), size_bytes
        with self._written_aside() as (file, aside):
            first = read(min(left, _CHUNK_BYTES))
            packer = zlib.compressobj(git_objects.level_for(first))
            write_all(file, packer.compress(head))
            piece = first
            while piece:
                left -= len(piece)
                digest.update(piece)
                write_all(file, packer.compress(piece))
                piece = read(min(left, _CHUNK_BYTES)) if left else b""
            if left:
                os.unlink(aside, dir_fd=self._folder)
                return None
            write_all(file, packer.flush())
            self._place(aside, _loose_name(digest.digest()), os.fstat(file).st_size)
        self.known.add(digest.digest())
        self.added_bytes += size_bytes
        return digest.digest()

    def flush(self) -> None:
        """Write the queued objects; after an error none of them counts as stored."""
        items, self._pending, self.pending_bytes = self._pending, [], 0
        try:
            if len(items) > _LOOSE_AT_MOST:
                self._write_pack(git_objects.encode_pack(items))
            else:
                for item in items:
                    self._write_loose(item)
        except BaseException:
            self.known.difference_update(item.id for item in items)
            raise

    def forget_pending(self) -> None:
        """Drop the objects queued since the last `flush`."""
        self.known.difference_update(item.id for item in self._pending)
        self._pending, self.pending_bytes = [], 0

    def require(self, identity: str) -> str:
        """Return the id of an object that must already be stored.

        Raises:
            RecordError: it is not.
        """
        if bytes.fromhex(check_id(identity)) not in self.known:
            raise RecordError(f"{self.repository} holds no snapshot {identity}.")
        return identity

    def head(self) -> str | None:
        """Return the latest commit, or None."""
        try:
            line = read_regular(self.repository / "refs/heads/main", 100, top=self._top or self.repository.parent)
        except OSError:
            return None
        return check_id(line.decode("ascii", "replace").strip())

    def move_head(self, commit: str) -> None:
        """Set the latest commit."""
        line = commit.encode() + b"\n"
        try:
            # Overwriting these bytes is one call; a rename over a file makes some file systems write it to disk.
            file = os.open("refs/heads/main", os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW, dir_fd=self._folder)
        except FileNotFoundError:
            self._write_file("refs/heads/main", line)
            return
        try:
            os.pwrite(file, line, 0)
        finally:
            os.close(file)

    def reader(self) -> Reader:
        """Yield a reader of the objects."""
        return Reader(self.repository, top=self._top)

    def copy_to(self, repository: Path) -> None:
        """Copy the objects to a new repository: only regular files with object names."""
        new = Store(repository)
        new.begin_writing()
        new.close()
        above = open_folder(self.repository / "objects", top=self._top or self.repository.parent)
        try:
            for name in os.listdir(above):  # noqa: PTH208 a folder that is open has no path
                if _FOLDERS.fullmatch(f"objects/{name}"):
                    _copy_folder(above, name, repository / "objects")
        finally:
            os.close(above)

    def compact(self) -> None:
        """Repack all objects into one file with deltas; unreachable ones are kept.

        Raises:
            RecordError: git could not; nothing is lost then.
        """
        self.begin_writing()
        self._repack()
        if any(len(folder.name) == 2 for folder in (self.repository / "objects").iterdir()):
            self._repack()  # git takes in loose objects that no commit reaches only if there was a pack before

    def _repack(self) -> None:
        assert self._lock is not None
        with tempfile.TemporaryDirectory(prefix="podium-git-") as folder:
            directory = Path(folder)
            git_program.make_directory(directory)
            if head := self.head():
                (directory / "refs" / "heads").mkdir()
                (directory / "refs" / "heads" / "main").write_text(f"{head}\n", encoding="ascii")
            arguments = (*_REPACK, "repack", "-a", "-d", "-k", "-q", "-n")
            with git_program.start(
                directory, *arguments, objects=self.repository / "objects", keep=(self._lock,)
            ) as process:
                process.communicate()
        self._take_stock()
        if process.returncode:
            raise RecordError(f"git repack failed on {self.repository}: is the disk full? Every snapshot is intact.")

    def _lay_out(self) -> None:
        for name in ("objects", "objects/pack", "refs", "refs/heads"):
            os.close(open_folder_at(self._folder, name, make=True))
        for name, text in (("config", git_program.CONFIG), ("HEAD", git_program.HEAD)):
            try:
                found = read_regular(self.repository / name, len(text), top=self._top or self.repository.parent)
            except FileNotFoundError:
                self._write_file(name, text.encode())
            except OSError:
                raise self._strange(name) from None
            else:
                if found != text.encode():
                    raise self._strange(name)

    def _take_stock(self) -> None:
        """Index the stored objects, and reject any link or setting that Podium does not write: it could redirect us or
        git."""
        self.known.clear()
        self.size_bytes = 0
        pending = [""]
        while pending:
            above = pending.pop()
            folder = os.dup(self._folder) if not above else open_folder_at(self._folder, above[:-1])
            try:
                with os.scandir(folder) as listing:
                    names = {entry.name: entry for entry in listing}
                    for name, entry in names.items():
                        if not entry.is_dir(follow_symlinks=False):
                            self._take_file(folder, above, entry, names)
                        elif _FOLDERS.fullmatch(above + name):
                            pending.append(f"{above}{name}/")
                        else:
                            raise self._strange(above + name)
            finally:
                os.close(folder)

    def _take_file(self, folder: int, above: str, entry: os.DirEntry[str], others: Collection[str]) -> None:
        path = above + entry.name
        stored, is_left_over = _OBJECTS.fullmatch(path), _LEFTOVERS.fullmatch(path)
        if not entry.is_file(follow_symlinks=False) or not (stored or is_left_over or _FILES.fullmatch(path)):
            raise self._strange(path)
        # An index is the last file of a pack to be put in place; an empty file is the trace of a power cut.
        alone = path.endswith(".pack") and f"{entry.name[:-5]}.idx" not in others
        size_bytes = entry.stat(follow_symlinks=False).st_size
        if is_left_over or alone or (stored and not size_bytes):
            os.unlink(entry.name, dir_fd=folder)
        elif stored:
            self.size_bytes += size_bytes
            if stored[1]:
                self.known.add(bytes.fromhex(stored[1] + stored[2]))
            elif path.endswith(".idx"):
                with os.fdopen(open_regular_at(folder, entry.name), "rb") as file:
                    self.known.update(git_objects.ids_of_index(file.read(_INDEX_BYTES)))

    def _strange(self, name: str) -> RecordError:
        return RecordError(f"{self.repository} is not a history that Podium wrote: {name!r} is not its own.")

    def _write_loose(self, item: git_objects.Packable) -> None:
        self._write_file(_loose_name(item.id), git_objects.encode_loose(item))

    def _write_pack(self, pack: git_objects.PackBytes) -> None:
        self._write_file(f"objects/pack/pack-{pack.name}.pack", pack.content)
        self._write_file(f"objects/pack/pack-{pack.name}.idx", pack.table)

    def _write_file(self, name: str, data: bytes) -> None:
        with self._written_aside() as (file, aside):
            write_all(file, data)
            self._place(aside, name, len(data))

    def _place(self, aside: str, name: str, size_bytes: int) -> None:
        try:
            os.rename(aside, name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
        except FileNotFoundError:
            with contextlib.suppress(FileExistsError):
                os.mkdir(name.rpartition("/")[0], dir_fd=self._folder)
            os.rename(aside, name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
        self.size_bytes += size_bytes

    @contextlib.contextmanager
    def _written_aside(self) -> Iterator[tuple[int, str]]:
        """Yield a new file open for writing, and its name; it is removed afterwards unless it was put in place."""
        aside = f"tmp_{os.getpid()}_{next(self._names)}"
        file = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644, dir_fd=self._folder)
        try:
            yield file, aside
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(aside, dir_fd=self._folder)
            raise
        finally:
            os.close(file)


def _copy_folder(above: int, name: str, target: Path) -> None:
    folder = open_folder_at(above, name)
    try:
        for file in os.listdir(folder):  # noqa: PTH208
            if _OBJECTS.fullmatch(f"objects/{name}/{file}"):
                (target / name).mkdir(exist_ok=True)
                with os.fdopen(open_regular_at(folder, file), "rb") as old, (target / name / file).open("xb") as new:
                    shutil.copyfileobj(old, new)
    finally:
        os.close(folder)


def _loose_name(identity: bytes) -> str:
    name = identity.hex()
    return f"objects/{name[:2]}/{name[2:]}"
