"""Where a sealed sandbox shows Pythons of the host: where they lie, but those from below /home, its workspace, in /opt.

Links, scripts and settings of a Python name its folder. Of one that is moved they are covered by copies that name the
new one: programs work, and nothing of the host's path is seen.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from podium.sandbox.interpreters.interpreter import homes, is_moved
from podium.sandbox.spec import HOME, Mount

BASE = "/opt/interpreter-base"
"""Where the installation behind an environment is seen; further ones have a number."""
_LARGE_BYTES = 1 << 17
"""A larger program is mounted as it is: copies are kept in memory."""
_BESIDE = b"$ORIGIN/../lib"

Entry = bytes | str | Path
"""A file by its content, a link by where it leads, or a file of the host."""


@dataclass(frozen=True)
class Cover:
    """A file, or a folder by its entries, that is seen in the place of another one."""

    target: str
    content: bytes | Mapping[str, Entry]


class Pythons:
    """Environments and the installations behind them, as they are seen inside."""

    def __init__(self, environments: Sequence[Mount], own: Path | None = None) -> None:
        """
        Args:
            environments: by their folders, and where they are seen.
            own: a further Python, by its real path.

        Raises:
            UsageError: see `homes`.
        """
        self._behind = {mount: homes(mount.source / "bin" / "python") for mount in environments}
        self._homes = [home for found in self._behind.values() for home in found] + (homes(own) if own else [])
        self._bases: dict[Path, str] = {}
        self._places: dict[Path, str] = {}
        for mount in environments:
            if is_moved(mount.source):
                self._places |= dict.fromkeys((mount.source, mount.source.resolve()), mount.target)
        for home in self._homes:
            if is_moved(home) and home.is_dir():
                real = home.resolve()
                if self.inside(real) == str(real):
                    self._bases[real] = self._places[real] = f"{BASE}-{len(self._bases) + 1}" if self._bases else BASE
                self._places[home] = self.inside(real)

    def inside(self, path: Path) -> str:
        """Where a path of the host is seen, if it is."""
        around = [folder for folder in self._places if path.is_relative_to(folder)]
        folder = max(around, key=lambda folder: len(folder.parts), default=None)
        return str(path if folder is None else Path(self._places[folder], path.relative_to(folder)))

    def mounts(self) -> tuple[Mount, ...]:
        """The folders they consist of, outside /usr."""
        shown = {mount.target: mount.source for mount in self._behind}
        # Both names of an environment that is reached through a link have to exist inside.
        in_place = [mount.source for mount in self._behind if mount.target == str(mount.source)]
        shown |= {str(source.resolve()): source for source in in_place}
        around = [Path(target) for target in shown]
        shown |= {
            str(home): home for home in self._homes if not (is_moved(home) or any(map(home.is_relative_to, around)))
        }
        shown |= {place: real for real, place in self._bases.items()}
        return tuple(
            Mount(source=source.resolve() if source.is_dir() else source, target=target)
            for target, source in shown.items()
            if not Path(target).is_relative_to("/usr")
        )

    def covers(self) -> Iterator[Cover]:
        """What is seen instead of what names a place that has been left."""
        for mount, behind in self._behind.items():
            if any(map(is_moved, (mount.source, *behind))):
                yield from self._covers(mount.source, mount.target, programs="*")
        for real, place in self._bases.items():
            yield from self._covers(real, place, programs="python*")  # of these, nobody calls any other

    def _covers(self, folder: Path, place: str, *, programs: str) -> Iterator[Cover]:
        yield Cover(f"{place}/bin", dict(self._programs(folder, programs)))
        for path in folder.glob("lib/python*/_sysconfigdata*.py"):
            text = path.read_bytes()
            if not path.is_symlink() and self._rewritten(text) != text:
                yield Cover(f"{place}/{path.relative_to(folder)}", self._rewritten(text))
        settings = folder / "pyvenv.cfg"
        if settings.is_file():
            home = os.fsencode(f"home = {self.inside((folder / 'bin' / 'python').resolve().parent)}")
            text = self._rewritten(settings.read_bytes())
            yield Cover(f"{place}/pyvenv.cfg", re.sub(rb"(?m)^home *=.*", lambda _: home, text))

    def _programs(self, folder: Path, wanted: str) -> Iterator[tuple[str, Entry]]:
        """The entries of `bin`, without what the user may not read."""
        for path in (folder / "bin").glob(wanted):
            if path.is_symlink():
                target, inside = path.readlink(), self.inside(path.resolve())
                if len(target.parts) == 1:
                    yield path.name, str(target)
                elif not Path(inside).is_relative_to(HOME):  # it would lead nowhere
                    yield path.name, inside
            elif path.is_file():
                with contextlib.suppress(PermissionError):
                    yield path.name, self._program(path)

    def _program(self, path: Path) -> Entry:
        if path.stat().st_size > _LARGE_BYTES:
            return path
        content = path.read_bytes()
        if not content.startswith(b"\x7fELF"):
            return self._rewritten(content)
        for name in self._places:  # a Python with a shared library looks for it in the folder that it was built for
            built_for = f"{name}/lib".encode()
            if len(built_for) >= len(_BESIDE):
                content = content.replace(built_for + b"\0", _BESIDE.ljust(len(built_for) + 1, b"\0"))
        return content

    def _rewritten(self, text: bytes) -> bytes:
        return self._names.sub(lambda found: self._texts[found[0]], text)

    @cached_property
    def _texts(self) -> dict[bytes, bytes]:
        """What is written instead of paths of the host."""
        names = [*self._places, *self._homes]
        users = {Path(HOME, name.relative_to(HOME).parts[0]) for name in names if name.is_relative_to(HOME)}
        return {bytes(name): place.encode() for name, place in (dict.fromkeys(users, HOME) | self._places).items()}

    @cached_property
    def _names(self) -> re.Pattern[bytes]:
        longest_first = sorted(self._texts, key=len, reverse=True)
        return re.compile(rb"(?:%b)(?![\w.-])" % b"|".join(map(re.escape, longest_first)))
