"""Data cache: task data is packed into storage once and unpacked once per node.

Each task has its own folder on a node, laid out like Podium's home. The folder is named by a hash of its content, so
the content never changes. The answers are a separate part that is fetched when something has to be graded.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from podium.cluster.storage import Storage
from podium.data.home import DataFolder, home
from podium.data.manifest import read_manifest
from podium.data.mlebench_checkout import imported_leaderboard
from podium.data.scrub_metadata import FILE_MODE, FOLDER_MODE, TIME_NS
from podium.errors import PodiumError
from podium.grading.prepared_task import PreparedTask
from podium.safefs.atomic_files import locked, sha256_all
from podium.safefs.neutral_paths import make_neutral
from podium.safefs.remove_tree import remove_tree
from podium.text import format_size

Part = Literal["public", "private"]
PARTS: tuple[Part, ...] = ("public", "private")
_ANSWERS = "answers.csv"


def publish_data(prepared: PreparedTask, storage: Storage) -> str:
    """Pack a task's data into storage unless it is there, and return its key."""
    place = prepared.place
    task_id = prepared.task.id
    described_by = [place.manifest, place.baseline, *filter(None, [imported_leaderboard(task_id)])]
    facts = [place.root.name, task_id, *(path.read_text(encoding="utf-8") for path in described_by if path.exists())]
    key = hashlib.sha256("\n".join(facts).encode()).hexdigest()[:32]
    if storage.read(f"data/{key}/complete") is None:
        for part in PARTS:
            with tempfile.NamedTemporaryFile(dir=place.root, prefix=".packing-") as file:
                with tarfile.open(fileobj=file, mode="w") as archive:
                    for name, path in _members(prepared, part):
                        archive.add(path, name, recursive=False)
                file.flush()
                storage.upload(f"data/{key}/{part}.tar", Path(file.name))
        storage.create(f"data/{key}/complete", b"")
    return key


def _members(prepared: PreparedTask, part: Part) -> Iterator[tuple[str, Path]]:
    """Yield the files of a part in order, with their names relative to Podium's home."""
    place, task_id = prepared.place, prepared.task.id
    root = f"data/{place.root.name}"
    if part == "public":
        named = [(f"{root}/{path.name}", path) for path in (place.manifest, place.baseline)]
    else:
        named = [(f"imported/{task_id}/{path.name}", path) for path in filter(None, [imported_leaderboard(task_id)])]
    yield from ((name, path) for name, path in named if path.exists())
    yield from _below(f"{root}/{part}", place.root / part)
    for name, path in _below(f"folders/{task_id}", home() / "folders" / task_id):
        if (path.name == _ANSWERS) == (part == "private"):
            yield name, path


def _below(name: str, folder: Path) -> Iterator[tuple[str, Path]]:
    for above, folders, files in os.walk(folder):
        folders.sort()
        here = Path(above)
        below = here.relative_to(folder).as_posix()
        yield from ((f"{name}/{below}/{file}".replace("/./", "/"), here / file) for file in sorted(files))


class NodeCache:
    """Data of tasks on a node, shared by all its processes."""

    def __init__(self, folder: Path, storage: Storage, limit_bytes: int | None = None) -> None:
        """
        Args:
            limit_bytes: maximum size, by default half of the disk; the least recently used data is removed first.
        """
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.folder, self._storage = folder, storage
        self._limit = limit_bytes or shutil.disk_usage(folder).total // 2

    @contextmanager
    def using(self, key: str) -> Iterator[Path]:
        """Context that provides a home with the public part of some data and protects it from removal."""
        with (self.folder / f"{key}.use").open("a") as use:
            fcntl.flock(use, fcntl.LOCK_SH)
            os.utime(use.fileno())
            yield self.fetch(key, "public")

    def fetch(self, key: str, part: Part) -> Path:
        """Return a home that contains a part of some data, fetching it if it is missing.

        Raises:
            PodiumError: storage does not have the data, it was altered, or the cache is too small.
        """
        target, mark = self.folder / key, self.folder / f"{key}.{part}"
        with locked(self.folder / f"{key}.lock"):
            if not mark.exists():
                with tempfile.TemporaryDirectory(dir=self.folder, prefix=".fetching-") as aside:
                    archive = Path(aside) / "data.tar"
                    try:
                        self._storage.download(f"data/{key}/{part}.tar", archive)
                    except FileNotFoundError as error:
                        raise PodiumError(f"{self._storage.url} has no data {key}. Run the command again.") from error
                    size_bytes = archive.stat().st_size
                    self._make_room(size_bytes, key)
                    _unpack(archive, target, part)
                mark.write_text(str(size_bytes), encoding="ascii")
        return target

    def _make_room(self, size_bytes: int, key: str) -> None:
        sizes = {mark: int(mark.read_text(encoding="ascii") or 0) for mark in self._marks()}
        used = {mark.stem: (self.folder / f"{mark.stem}.use").stat().st_mtime for mark in sizes}
        for old in sorted(used, key=lambda name: used[name]):
            if sum(sizes.values()) + size_bytes <= self._limit:
                return
            if old != key and self._evict(old):
                sizes = {mark: size for mark, size in sizes.items() if mark.stem != old}
        if sum(sizes.values()) + size_bytes > self._limit:
            raise PodiumError(
                f"The data cache in {self.folder} is limited to {format_size(self._limit)}, and all of it is in use. "
                "Raise PODIUM_CACHE_BYTES, or run fewer tasks at a time."
            )

    def _evict(self, key: str) -> bool:
        """Remove some data unless a run uses it; return whether it was removed."""
        with (self.folder / f"{key}.use").open("a") as use:
            try:
                fcntl.flock(use, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            for part in PARTS:
                (self.folder / f"{key}.{part}").unlink(missing_ok=True)
            remove_tree(self.folder / key)
        return True

    def _marks(self) -> list[Path]:
        return [mark for part in PARTS for mark in self.folder.glob(f"*.{part}")]


def _unpack(archive: Path, target: Path, part: Part) -> None:
    """Unpack a part under a neutral path, with the same time and mode for all files."""
    with tarfile.open(archive) as members:
        root = next((member.name.split("/")[1] for member in members if member.name.startswith("data/")), None)
        shown = target
        if part == "public" and root is not None:
            remove_tree(target)
            shown = make_neutral(target / "data" / ".public", target / "data" / root)
            (target / "data" / root).mkdir()
            (target / "data" / root / "public").symlink_to(f"../.public/{shown.name}")
        elif root is not None:
            remove_tree(target / "data" / root / "private")
            (target / "data" / root / "private").mkdir(mode=0o700)
        for member in members:
            if not member.isreg() or ".." in member.name.split("/") or member.name.startswith("/"):
                raise PodiumError(f"{archive.name} contains {member.name!r}, which is not a file of a task's data.")
            _write_member(members, member, target)
    for folder, _, _ in os.walk(shown) if shown != target else ():
        os.chmod(folder, FOLDER_MODE)  # noqa: PTH101
        os.utime(folder, ns=(TIME_NS, TIME_NS))
    if root is not None:
        _check(target / "data" / root, part)


def _write_member(members: tarfile.TarFile, member: tarfile.TarInfo, target: Path) -> None:
    path = target / member.name
    path.parent.mkdir(parents=True, exist_ok=True)
    content = members.extractfile(member)
    assert content is not None
    with content, path.open("wb") as file:
        shutil.copyfileobj(content, file, 1 << 20)
    path.chmod(FILE_MODE)
    os.utime(path, ns=(TIME_NS, TIME_NS))


def _check(root: Path, part: Part) -> None:
    """Check all files against the manifest."""
    manifest = read_manifest(DataFolder(root=root, raw=root / "raw"))
    assert manifest is not None
    named = [name for name in manifest.files if name.startswith(f"{part}/")]
    for name, digest in zip(named, sha256_all([root / name for name in named]), strict=True):
        if digest != manifest.files[name]["sha256"]:
            raise PodiumError(f"{name} of {manifest.task} does not match its checksum. Remove the data from storage.")
