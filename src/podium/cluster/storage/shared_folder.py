"""Storage in a folder that all nodes can access, such as an NFS share."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from podium.safefs.remove_tree import remove_tree

_ASIDE = ".aside-"


class FolderStorage:
    """Objects as files. A new file is written aside and hard-linked to its name, which is atomic on NFS too."""

    is_folder = True

    def __init__(self, folder: Path) -> None:
        self.folder, self.url = folder, str(folder)

    def create(self, name: str, data: bytes) -> bool:
        with self._aside(name) as (aside, target):
            with aside.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            try:
                os.link(aside, target)
            except FileExistsError:
                return False
        return True

    def read(self, name: str) -> bytes | None:
        try:
            return (self.folder / name).read_bytes()
        except FileNotFoundError:
            return None

    def upload(self, name: str, path: Path) -> None:
        with self._aside(name) as (aside, target):
            _link_or_copy(path, aside)
            aside.replace(target)

    def download(self, name: str, path: Path) -> None:
        _link_or_copy(self.folder / name, path)

    def names(self, prefix: str) -> list[str]:
        found = []
        for folder, _, files in os.walk(self.folder / prefix):
            below = os.path.relpath(folder, self.folder)
            found += [f"{below}/{name}" for name in files if not name.startswith(_ASIDE)]
        return sorted(found)

    def remove(self, name: str) -> None:
        remove_tree(self.folder / name)

    @contextmanager
    def _aside(self, name: str) -> Iterator[tuple[Path, Path]]:
        """Yield a temporary path for writing an object, and its final path."""
        target = self.folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        aside = target.with_name(f"{_ASIDE}{secrets.token_hex(8)}")
        try:
            yield aside, target
        finally:
            with suppress(FileNotFoundError):
                aside.unlink()


def _link_or_copy(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except FileNotFoundError:
        raise
    except OSError:  # another file system, or one without hard links
        shutil.copyfile(source, target)
