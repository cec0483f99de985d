"""Read and write untrusted files through carefully opened descriptors."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import stat
from pathlib import Path

from podium.sandbox.spec import MIB

# Their files act on the process that reads or writes them, which would be ours even if a program opened them.
_KERNEL_FILE_SYSTEMS = {
    "proc": 0x9FA0, "sysfs": 0x62656572, "cgroup": 0x27E0EB, "cgroup2": 0x63677270, "debugfs": 0x64626720,
    "tracefs": 0x74726163, "securityfs": 0x73636673, "configfs": 0x62656570, "bpf": 0xCAFE4A11, "efivarfs": 0xDE5E81E4,
}  # fmt: skip


def read(descriptor: int, path: str, *, limit_bytes: int) -> bytes:
    """Return the content of a regular file, at most `limit_bytes` and one more byte; close the descriptor."""
    try:
        require_regular(descriptor, path)
        data = bytearray()
        while len(data) <= limit_bytes and (piece := os.read(descriptor, min(MIB, limit_bytes + 1 - len(data)))):
            data += piece
        return bytes(data)
    finally:
        os.close(descriptor)


def write(descriptor: int, path: str, data: bytes) -> None:
    """Write to a regular file; close the descriptor."""
    with open(descriptor, "wb", buffering=0) as file:
        require_regular(descriptor, path)
        view = memoryview(data)
        while view:
            view = view[file.write(view) :]


def require_regular(descriptor: int, path: str) -> None:
    """Raise unless an open file is a regular one.

    Raises:
        IsADirectoryError: it is a folder.
        OSError: it is a pipe, a device, a socket or on a file system of the kernel's.
    """
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "Is a directory", path)
    if not stat.S_ISREG(mode) or _file_system(descriptor) in _KERNEL_FILE_SYSTEMS.values():
        raise OSError(errno.EINVAL, "Not a regular file", path)


def _file_system(descriptor: int) -> int:
    """Return the type of the file system that an open file is on."""
    status = ctypes.create_string_buffer(256)  # struct statfs, whose first field is the type
    if ctypes.CDLL(None, use_errno=True).fstatfs(descriptor, status) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return ctypes.c_long.from_buffer(status).value & 0xFFFFFFFF


def open_below(root: Path, target: Path, flags: int, *, parents: bool, name: str) -> int:
    """Return a descriptor of a file somewhere below a folder; no link is followed on the way.

    Args:
        parents: True to create missing folders on the way.
        name: name of the file in errors.

    Raises:
        OSError: as for `os.open`.
    """
    parts = target.relative_to(root).parts or (".",)
    folder = os.open(root, os.O_PATH | os.O_DIRECTORY)
    try:
        for part in parts[:-1]:
            inner = _enter(folder, part, make=parents)
            os.close(folder)
            folder = inner
        # A FIFO must not block us; the caller handles files that are not regular.
        return os.open(parts[-1], flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o666, dir_fd=folder)
    except OSError as error:
        raise OSError(error.errno, error.strerror, name) from error
    finally:
        os.close(folder)


def _enter(folder: int, part: str, *, make: bool) -> int:
    if make:
        with contextlib.suppress(FileExistsError):
            os.mkdir(part, dir_fd=folder)
    return os.open(part, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
