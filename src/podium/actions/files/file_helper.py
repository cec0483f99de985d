"""File operations inside the sandbox: performs one request per process.

This file runs on its own, as `python -c`: it must not import Podium and, because every action waits for it, imports
little of the standard library. It works in its current folder, the workspace. It reads a request from stdin, a
marshalled dictionary with the operation under "do", and prints {"result": ...} or {"refused": "a sentence for the
agent"} as JSON.

Paths are resolved before use, including links, and must stay in the workspace. Where nothing can be mounted, links
replace the mounts; the request lists their targets under "linked", where files can be read but not written.
"""

# Importing pathlib is slow:
# ruff: noqa: PTH103, PTH108, PTH109, PTH110, PTH112, PTH118, PTH119, PTH120, PTH121, PTH123, PTH202, PTH208

from __future__ import annotations

import errno
import marshal
import os
import stat
import sys
from _json import encode_basestring_ascii

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = os.getcwd()
LINKED: list[str] = []
KEPT = os.path.join(ROOT, ".podium")
BACKUPS = os.path.join(KEPT, "backups")
MAX_BACKUP_BYTES = 1 << 20
MAX_ENTRIES = 2_000
MAX_LINE_BYTES = 4_096
PIECE_BYTES = 1 << 20
READ_ONLY = (errno.EROFS, errno.EACCES, errno.EPERM, errno.EBUSY, errno.ETXTBSY)


class Refused(Exception):
    pass


def resolve(name: str, writes: bool = False) -> str:
    if not name:
        raise Refused("The path is missing: it is an empty string.")
    path = os.path.realpath(os.path.join(ROOT, name))
    if any(os.path.commonpath([path, place]) == place for place in LINKED):
        if writes:
            raise Refused(explain(OSError(errno.EROFS, ""), name))
        return path
    if os.path.commonpath([path, ROOT]) != ROOT:
        raise Refused(f"{name} is outside the workspace. Only files inside it can be used.")
    if os.path.commonpath([path, KEPT]) == KEPT:
        raise Refused(f"{name} is reserved for Podium and cannot be used.")
    return path


def open_regular(path: str, name: str, flags: int) -> int:
    # Non-blocking: opening a FIFO would wait for its other end.
    descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "", path)
    if not stat.S_ISREG(mode):
        raise Refused(f"{name} is not a regular file.")
    return descriptor


def list_folder(name: str) -> dict[str, object]:
    entries = []
    with os.scandir(resolve(name)) as found:
        for entry in found:
            if entry.path != KEPT:
                entries.append(entry.name + mark(entry))
    entries.sort()
    half = MAX_ENTRIES // 2
    if len(entries) <= MAX_ENTRIES:
        return {"first": entries, "last": [], "left_out": 0}
    return {"first": entries[:half], "last": entries[-half:], "left_out": len(entries) - 2 * half}


def mark(entry: os.DirEntry[str]) -> str:
    if entry.is_symlink():
        return "@"
    if entry.is_dir():
        return "/"
    if not entry.is_file():
        return "|"
    return "*" if entry.stat().st_mode & 0o111 else ""


def read(name: str, limit_bytes: int, missing_is_empty: bool = False) -> dict[str, object]:
    """Return the text of a file; only the beginning and the end if it is longer than the limit."""
    path = resolve(name)
    if missing_is_empty and not os.path.lexists(path):
        return {"text": "", "tail": "", "size": 0, "left_out": 0, "is_text": True, "is_clean": True}
    with os.fdopen(open_regular(path, name, os.O_RDONLY), "rb") as file:
        size = os.fstat(file.fileno()).st_size
        half = limit_bytes // 2
        if size <= limit_bytes:
            head, tail = file.read(limit_bytes), b""
        else:
            head = whole_characters(file.read(half))
            file.seek(size - half)
            tail = file.read(half)
            tail = tail[next((i for i in range(4) if tail[i] & 0xC0 != 0x80), 0) :]
    is_text, is_clean = detect_text(head + tail)
    texts = {"text": head.decode("utf-8", "replace"), "tail": tail.decode("utf-8", "replace")}
    left_out = max(0, size - len(head) - len(tail))
    return {**texts, "size": size, "left_out": left_out, "is_text": is_text, "is_clean": is_clean}


def whole_characters(data: bytes) -> bytes:
    """Return the data without an incomplete UTF-8 character at its end."""
    for missing in range(1, min(4, len(data) + 1)):
        if data[-missing] & 0xC0 == 0xC0:
            needed = 2 if data[-missing] < 0xE0 else 3 if data[-missing] < 0xF0 else 4
            return data[:-missing] if missing < needed else data
    return data


def detect_text(data: bytes) -> tuple[bool, bool]:
    """Return whether the data is text, and whether it is valid UTF-8."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return b"\0" not in data, False
    return b"\0" not in data, True


def read_lines(name: str, start: int, end: int) -> dict[str, object]:
    """Return the lines from start to end, counted from 1, and the number of lines in the file."""
    shown: list[str] = []
    count, is_new, is_text = 0, True, True
    with os.fdopen(open_regular(resolve(name), name, os.O_RDONLY), "rb") as file:
        while True:
            piece = file.readline(PIECE_BYTES)  # a line may be as long as the memory
            if not piece:
                return {"lines": shown, "count": count, "is_text": is_text}
            if is_new:
                count += 1
                if start <= count <= end:
                    is_text = is_text and b"\0" not in piece
                    text = piece[:MAX_LINE_BYTES].decode("utf-8", "replace").rstrip("\r\n")
                    shown.append(text + (" [line cut here]" if len(piece) > MAX_LINE_BYTES else ""))
            is_new = piece.endswith(b"\n")


def find(name: str) -> str:
    """Return the path of a regular file, relative to the workspace."""
    path = resolve(name)
    os.close(open_regular(path, name, os.O_RDONLY))
    return os.path.relpath(path, ROOT)


def write(name: str, content: str | bytes, append: bool = False, undoable: bool = False) -> None:
    path = resolve(name, writes=True)
    if name.endswith("/"):
        raise IsADirectoryError(errno.EISDIR, "", path)
    existed = os.path.lexists(path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    descriptor = open_regular(path, name, os.O_WRONLY | os.O_CREAT | (os.O_APPEND if append else 0))
    with os.fdopen(descriptor, "wb") as file:
        if undoable:
            back_up(path, existed)
        if not append:
            file.truncate()
        file.write(content.encode("utf-8") if isinstance(content, str) else content)


def copy(source: str, destination: str) -> str:
    """Copy a file to a path or into a folder, and return the path of the copy."""
    origin = resolve(source)
    target = resolve(destination, writes=True)
    if os.path.isdir(target):
        destination = os.path.join(destination, os.path.basename(origin))
        target = resolve(destination, writes=True)
    with os.fdopen(open_regular(origin, source, os.O_RDONLY), "rb") as file:
        if os.path.exists(target) and os.path.samefile(origin, target):
            raise Refused(f"{source} and {destination} are the same file.")
        os.makedirs(os.path.dirname(target), exist_ok=True)
        try:
            descriptor = open_regular(target, destination, os.O_WRONLY | os.O_CREAT)
        except OSError as error:
            raise Refused(explain(error, destination)) from error
        with os.fdopen(descriptor, "wb") as copied:
            copied.truncate()
            while piece := file.read(PIECE_BYTES):
                copied.write(piece)
    return os.path.relpath(target, ROOT)


def back_up(path: str, existed: bool) -> None:
    """Save the state of a file for undo, even if it does not exist; files larger than a script are not saved."""
    if existed and os.path.getsize(path) > MAX_BACKUP_BYTES:
        return
    os.makedirs(BACKUPS, exist_ok=True)
    numbers = [number for number, _ in backups(path)]
    name = f"{key(path)}-{max(numbers, default=0) + 1:06d}" + ("" if existed else "-absent")
    with open(os.path.join(BACKUPS, name), "xb") as kept:
        if existed:
            with open(path, "rb") as file:
                kept.write(file.read())


def backups(path: str) -> list[tuple[int, str]]:
    """Return the saved states of a file, oldest first."""
    try:
        names = os.listdir(BACKUPS)
    except FileNotFoundError:
        return []
    mine = [name for name in names if name.startswith(key(path) + "-")]
    return sorted((int(name.split("-")[1]), name) for name in mine)


def key(path: str) -> str:
    import hashlib

    return hashlib.sha256(os.fsencode(os.path.relpath(path, ROOT))).hexdigest()[:24]


def undo(name: str) -> dict[str, object]:
    """Restore the last saved state of a file and delete that state."""
    path = resolve(name, writes=True)
    kept = backups(path)
    if not kept:
        raise Refused(f"There is no edit of {name} to undo.")
    _, last = kept[-1]
    backup = os.path.join(BACKUPS, last)
    is_removed = last.endswith("-absent")
    if is_removed:
        if os.path.lexists(path):
            os.unlink(path)
    else:
        with open(backup, "rb") as file:
            data = file.read()
        write(name, data)
    os.unlink(backup)
    return {"is_removed": is_removed, "left": len(kept) - 1}


def explain(error: OSError, name: str) -> str:
    if isinstance(error, FileNotFoundError):
        return f"{name} does not exist."
    if isinstance(error, IsADirectoryError):
        return f"{name} is a folder, not a file."
    if isinstance(error, (NotADirectoryError, FileExistsError)):
        return f"{name} is not a folder, or a part of its path is a file."
    if error.errno in READ_ONLY:
        return f"{name} is protected: it is read-only, or you have no permission to read it."
    return f"{name} cannot be used: {(error.strerror or str(error)).lower()}."


OPERATIONS: dict[str, Callable[..., object]] = {
    "list": list_folder, "read": read, "lines": read_lines, "find": find, "write": write, "copy": copy, "undo": undo,
}  # fmt: skip


def encode(value: object) -> str:
    """Return a value as JSON, because importing `json` would double the start-up time."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return str(encode_basestring_ascii(value))
    if isinstance(value, dict):
        return "{" + ",".join(f"{encode(key)}:{encode(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(encode(item) for item in value) + "]"
    return str(value)


def main() -> None:
    request = marshal.loads(sys.stdin.buffer.read())
    operation = OPERATIONS[request.pop("do")]
    LINKED.extend(request.pop("linked"))
    name = request.get("name") or request.get("source") or ""
    try:
        answer = {"result": operation(**request)}
    except Refused as error:
        answer = {"refused": str(error)}
    except OSError as error:
        answer = {"refused": explain(error, name)}
    except ValueError:  # a null byte, or a character that is not allowed in file names
        answer = {"refused": f"{name!a} is not a path."}
    print(encode(answer))


if __name__ == "__main__":
    main()
