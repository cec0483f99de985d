"""File stamps: change fingerprints (mode, inode, size, times), read from the kernel in bulk.

Each step checks every file of a workspace. Writing the results into one buffer, which is then compared with the last
one, takes half the time of `os.stat` and its objects.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import struct
from collections.abc import Iterable

Stamp = bytes
"""Mode, inode, size, change time and modification time of a file, packed."""

# A file that changed this shortly before it was read may change again with the same times: these advance with the
# kernel's clock tick, at most 10 ms, and on some file systems only every two seconds.
_RACY_NS = 30_000_000
_RACY_IF_COARSE_NS = 2_100_000_000

_STAMP = struct.Struct("=H2xQQqI4xqI4x")
_SECOND_NS = 1_000_000_000

_RECORD_BYTES = 256  # size of the kernel's `struct statx` on every architecture
_AT_ONCE = 256
_FLAGS = ctypes.c_int(0x100 | 0x800)  # do not follow links or trigger automounts
_WANTED = ctypes.c_uint(0x1 | 0x2 | 0x40 | 0x80 | 0x100 | 0x200)  # type, mode, both times, inode, size
_statx = getattr(ctypes.CDLL(None), "statx", None)  # C libraries older than 2018 lack it


def stamp_of(status: os.stat_result) -> Stamp:
    """Return the stamp for a stat result."""
    changed, written = divmod(status.st_ctime_ns, _SECOND_NS), divmod(status.st_mtime_ns, _SECOND_NS)
    return _STAMP.pack(status.st_mode, status.st_ino, status.st_size, *changed, *written)


def stamp_mode(stamp: Stamp) -> int:
    """Return the mode of a stamped file."""
    mode: int = _STAMP.unpack(stamp)[0]
    return mode


def stable_stamp(stamp: Stamp, started_ns: int) -> Stamp | None:
    """Return the stamp of content read since `started_ns`, or None if a later change might not alter it."""
    _, _, _, seconds, rest_ns, *_ = _STAMP.unpack(stamp)
    racy_ns = _RACY_NS if rest_ns else _RACY_IF_COARSE_NS
    return None if seconds * _SECOND_NS + rest_ns > started_ns - racy_ns else stamp


def stamp_at(folder: int, name: bytes) -> Stamp | OSError:
    """Return the stamp of a name in a folder, or the error."""
    try:
        return stamp_of(os.stat(name, dir_fd=folder, follow_symlinks=False))
    except OSError as error:
        return error


class BulkStat:
    """Bulk `statx` of many names, for use by one thread."""

    def __init__(self) -> None:
        self._memory = ctypes.create_string_buffer(_AT_ONCE * _RECORD_BYTES)
        start = ctypes.addressof(self._memory)
        self._places = [ctypes.c_void_p(start + number * _RECORD_BYTES) for number in range(_AT_ONCE)]

    def at(self, folder: int, names: Iterable[bytes]) -> bytes | None:
        """Return the packed `statx` records of names in a folder, or None if one fails."""
        if _statx is None:
            return None
        descriptor, left, seen = ctypes.c_int(folder), iter(names), []
        while batch := list(itertools.islice(left, _AT_ONCE)):
            for name, place in zip(batch, self._places, strict=False):
                if _statx(descriptor, name, _FLAGS, _WANTED, place):
                    return None
            seen.append(ctypes.string_at(self._memory, len(batch) * _RECORD_BYTES))
        return b"".join(seen)


def unpack_stamps(seen: bytes) -> list[Stamp]:
    """Return the stamps in packed `statx` records."""
    # In a record, mode, inode and size are adjacent, and so are the two times.
    starts = range(0, len(seen), _RECORD_BYTES)
    return [seen[at + 28 : at + 48] + seen[at + 96 : at + 128] for at in starts]
