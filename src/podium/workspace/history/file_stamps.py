"""Stamps of files: what changes whenever their content or mode does, asked of the kernel for many files at once.

Each step looks at every file of a workspace. Answers written into one piece of memory, which is then compared with that
of the last time, take half the time of `os.stat` with its objects.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import struct
from collections.abc import Iterable

Stamp = bytes
"""Mode, inode, size and the times of the last change and write."""

# What changed this shortly before it was read may change again without its times showing it: they advance with the
# kernel's clock tick, at most 10 ms, and on some file systems only every two seconds.
_RACY_NS = 30_000_000
_RACY_IF_COARSE_NS = 2_100_000_000

_STAMP = struct.Struct("=H2xQQqI4xqI4x")
_SECOND_NS = 1_000_000_000

_RECORD_BYTES = 256  # the kernel's `struct statx`, the same on every machine
_AT_ONCE = 256
_FLAGS = ctypes.c_int(0x100 | 0x800)  # follow no link, mount nothing
_WANTED = ctypes.c_uint(0x1 | 0x2 | 0x40 | 0x80 | 0x100 | 0x200)  # kind, mode, both times, inode, size
_statx = getattr(ctypes.CDLL(None), "statx", None)  # C libraries older than 2018 lack it


def stamp_of(status: os.stat_result) -> Stamp:
    """The stamp of a file by what `os.stat` says of it."""
    changed, written = divmod(status.st_ctime_ns, _SECOND_NS), divmod(status.st_mtime_ns, _SECOND_NS)
    return _STAMP.pack(status.st_mode, status.st_ino, status.st_size, *changed, *written)


def mode_of(stamp: Stamp) -> int:
    """The kind and the rights of a file."""
    mode: int = _STAMP.unpack(stamp)[0]
    return mode


def trusted(stamp: Stamp, started_ns: int) -> Stamp | None:
    """The stamp of what was read from `started_ns` on, if a later change is sure to alter it."""
    _, _, _, seconds, rest_ns, *_ = _STAMP.unpack(stamp)
    racy_ns = _RACY_NS if rest_ns else _RACY_IF_COARSE_NS
    return None if seconds * _SECOND_NS + rest_ns > started_ns - racy_ns else stamp


def stamp_at(folder: int, name: bytes) -> Stamp | OSError:
    """The stamp of a name in a folder, or why there is none."""
    try:
        return stamp_of(os.stat(name, dir_fd=folder, follow_symlinks=False))
    except OSError as error:
        return error


class Glance:
    """Looks at many names; for one thread."""

    def __init__(self) -> None:
        self._memory = ctypes.create_string_buffer(_AT_ONCE * _RECORD_BYTES)
        start = ctypes.addressof(self._memory)
        self._places = [ctypes.c_void_p(start + number * _RECORD_BYTES) for number in range(_AT_ONCE)]

    def at(self, folder: int, names: Iterable[bytes]) -> bytes | None:
        """Everything the kernel says of the names in a folder; None if it is silent on one."""
        if _statx is None:
            return None
        descriptor, left, seen = ctypes.c_int(folder), iter(names), []
        while batch := list(itertools.islice(left, _AT_ONCE)):
            for name, place in zip(batch, self._places, strict=False):
                if _statx(descriptor, name, _FLAGS, _WANTED, place):
                    return None
            seen.append(ctypes.string_at(self._memory, len(batch) * _RECORD_BYTES))
        return b"".join(seen)


def stamps_in(seen: bytes) -> list[Stamp]:
    """The stamps of the names that a glance has seen."""
    # In a record, mode, inode and size stand together, and so do the two times.
    starts = range(0, len(seen), _RECORD_BYTES)
    return [seen[at + 28 : at + 48] + seen[at + 96 : at + 128] for at in starts]
