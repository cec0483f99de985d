"""Mounts of the host's Pythons in a sealed sandbox: at their own paths, or in /opt if they are below /home.

Links, scripts and settings of a Python contain its folder. If it is moved, they are covered by copies that contain the
new one: programs work, and the host's path is not visible.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from podium.sandbox.interpreters.interpreter import base_installations, is_relocated
from podium.sandbox.spec import HOME, Mount

BASE = "/opt/interpreter-base"
"""Path inside of the installation behind an environment; further ones are numbered."""
_MAX_COPIED_BYTES = 1 << 17
"""Larger programs are mounted as they are, because copies are kept in memory."""
_RELATIVE_LIB = b"$ORIGIN/../lib"

Entry = bytes | str | Path
"""File by its content, link by its target, or file of the host."""


@dataclass(frozen=True)
class Cover:
    """File, or folder by its entries, that is seen in place of another one."""

    target: str
    content: bytes | Mapping[str, Entry]


class Pythons:
    """Environments and the installations behind them, as seen inside."""

    def __init__(self, environments: Sequence[Mount], own: Path | None = None) -> None:
        """Find the installations behind environments and choose their paths inside.

        Args:
            environments: their folders, and their paths inside.
            own: another Python, by its real path.

        Raises:
            UsageError: see `base_installations`.
        """
        self._behind = {mount: base_installations(mount.source / "bin" / "python") for mount in environments}
        self._homes = [home for homes in self._behind.values() for home in homes]
        self._homes += base_installations(own) if own else []
        self._bases: dict[Path, str] = {}
        self._places: dict[Path, str] = {}
        for mount in environments:
            if is_relocated(mount.source):
                self._places |= dict.fromkeys((mount.source, mount.source.resolve()), mount.target)
        for home in self._homes:
            if is_relocated(home) and home.is_dir():
                real = home.resolve()
                if self.inside(real) == str(real):
                    self._bases[real] = self._places[real] = f"{BASE}-{len(self._bases) + 1}" if self._bases else BASE
                self._places[home] = self.inside(real)

    def inside(self, path: Path) -> str:
        """Return the path inside of a path of the host, provided that it is shown at all."""
        around = [folder for folder in self._places if path.is_relative_to(folder)]
        folder = max(around, key=lambda folder: len(folder.parts), default=None)
        return str(path if folder is None else Path(self._places[folder], path.relative_to(folder)))

    def mounts(self) -> tuple[Mount, ...]:
        """Return the mounts of their folders, outside /usr."""
        shown = {mount.target: mount.source for mount in self._behind}
        # An environment that is reached through a link must exist inside under both names.
        in_place = [mount.source for mount in self._behind if mount.target == str(mount.source)]
        shown |= {str(source.resolve()): source for source in in_place}
        around = [Path(target) for target in shown]
        shown |= {
            str(home): home for home in self._homes if not (is_relocated(home) or any(map(home.is_relative_to, around)))
        }
        shown |= {place: real for real, place in self._bases.items()}
        return tuple(
            Mount(source=source.resolve() if source.is_dir() else source, target=target)
            for target, source in shown.items()
            if not Path(target).is_relative_to("/usr")
        )

    def covers(self) -> Iterator[Cover]:
        """Yield replacements for files that contain the original path of a moved folder."""
        for mount, behind in self._behind.items():
            if any(map(is_relocated, (mount.source, *behind))):
                yield from self._covers(mount.source, mount.target, programs="*")
        for real, place in self._bases.items():
            yield from self._covers(real, place, programs="python*")  # of these, no other program is called

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
        """Yield the entries of `bin`, except those the user may not read."""
        for path in (folder / "bin").glob(wanted):
            if path.is_symlink():
                target, inside = path.readlink(), self.inside(path.resolve())
                if len(target.parts) == 1:
                    yield path.name, str(target)
                elif not Path(inside).is_relative_to(HOME):  # it would be a dangling link
                    yield path.name, inside
            elif path.is_file():
                with contextlib.suppress(PermissionError):
                    yield path.name, self._program(path)

    def _program(self, path: Path) -> Entry:
        if path.stat().st_size > _MAX_COPIED_BYTES:
            return path
        content = path.read_bytes()
        if not content.startswith(b"\x7fELF"):
            return self._rewritten(content)
        for name in self._places:  # a Python with a shared library looks for it in the folder that it was built for
            built_for = f"{name}/lib".encode()
            if len(built_for) >= len(_RELATIVE_LIB):
                content = content.replace(built_for + b"\0", _RELATIVE_LIB.ljust(len(built_for) + 1, b"\0"))
        return content

    def _rewritten(self, text: bytes) -> bytes:
        return self._names.sub(lambda found: self._texts[found[0]], text)

    @cached_property
    def _texts(self) -> dict[bytes, bytes]:
        """Replacements for paths of the host."""
        names = [*self._places, *self._homes]
        users = {Path(HOME, name.relative_to(HOME).parts[0]) for name in names if name.is_relative_to(HOME)}
        return {bytes(name): place.encode() for name, place in (dict.fromkeys(users, HOME) | self._places).items()}

    @cached_property
    def _names(self) -> re.Pattern[bytes]:
        longest_first = sorted(self._texts, key=len, reverse=True)
        return re.compile(rb"(?:%b)(?![\w.-])" % b"|".join(map(re.escape, longest_first)))
