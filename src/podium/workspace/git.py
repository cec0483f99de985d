"""The git program, asked only to read, to compare and to repack, and deaf to every configuration but ours."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from podium.errors import RecordError
from podium.workspace import objects

_CHUNK_BYTES = 1024 * 1024
_SETTINGS = {
    "core.bigFileThreshold": "2m",  # larger blobs are not compared line by line
    "core.packedGitLimit": "256m",
    "diff.renameLimit": "200",
    "gc.auto": "0",
    "pack.compression": "1",
    "pack.deltaCacheSize": "32m",
    "pack.threads": "1",
    "pack.windowMemory": "64m",
    "repack.writeBitmaps": "false",
}
_REPACK_SETTINGS = {
    "core.bigFileThreshold": "256k",  # a search for differences between larger blobs takes seconds and saves little
}


def command(repository: Path, *arguments: str) -> list[str]:
    """A call of git on one repository."""
    special = _REPACK_SETTINGS if arguments[0] == "repack" else {}
    settings = [word for name, value in (_SETTINGS | special).items() for word in ("-c", f"{name}={value}")]
    return ["git", f"--git-dir={repository}", *settings, *arguments]


def environment() -> dict[str, str]:
    """What git sees: no configuration of the user or the machine, and no attributes from the files it compares."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "LC_ALL": "C",
        "HOME": "/nonexistent",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_ATTR_SOURCE": objects.EMPTY_TREE.hex(),
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
    }


def start(
    repository: Path, *arguments: str, stdin: int = subprocess.DEVNULL, keep: tuple[int, ...] = ()
) -> subprocess.Popen[bytes]:
    """A running git; `keep` names the descriptors it inherits."""
    try:
        return subprocess.Popen(
            command(repository, *arguments),
            env=environment(),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pass_fds=keep,
        )
    except FileNotFoundError as error:
        raise RecordError("The program git is not installed. Install it (2.34 or newer), then try again.") from error


def ask(repository: Path, *arguments: str) -> bytes:
    """What git prints.

    Raises:
        RecordError: git failed.
    """
    with start(repository, *arguments) as process:
        output, _ = process.communicate()
    if process.returncode:
        raise RecordError(f"git {arguments[0]} failed on {repository}. Run: git --git-dir={repository} fsck")
    return output


def stop(process: subprocess.Popen[bytes]) -> None:
    """Ends a git that may still be writing."""
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
    process.kill()
    process.wait()


class Reader:
    """Reads objects through `git cat-file`, and believes none whose content does not hash to its name."""

    def __init__(self, repository: Path) -> None:
        self._repository = repository
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._running.values():
            stop(process)
        self._running.clear()

    def size(self, identity: str) -> int:
        """The size of an object's content."""
        return self._ask("--batch-check", identity)[1]

    def read(self, identity: str, expected: bytes) -> bytes:
        """The content of an object of the expected kind.

        Raises:
            RecordError: it is missing, damaged, or not of the expected kind.
        """
        pieces: list[bytes] = []
        kind = self.stream(identity, pieces.append)
        if kind != expected:
            raise RecordError(f"Object {identity} of {self._repository} is no {expected.decode()}.")
        return b"".join(pieces)

    def stream(self, identity: str, sink: Callable[[bytes], object]) -> bytes:
        """Hands over an object's content piece by piece and returns its kind.

        Raises:
            RecordError: it is missing, or what was handed over is not what the name promises.
        """
        kind, size = self._ask("--batch", identity)
        pipe = self._pipe("--batch")
        digest = hashlib.sha256(objects.header(kind, size))
        for piece in _pieces(pipe, size):
            digest.update(piece)
            sink(piece)
        if pipe.read(1) != b"\n" or digest.hexdigest() != identity:
            stop(self._running.pop("--batch"))
            raise self._damaged(identity)
        return kind

    def _ask(self, mode: str, identity: str) -> tuple[bytes, int]:
        check_id(identity)
        if mode not in self._running:
            self._running[mode] = start(self._repository, "cat-file", mode, stdin=subprocess.PIPE)
        process = self._running[mode]
        assert process.stdin is not None and process.stdout is not None
        answer = b""
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(identity.encode() + b"\n")
            process.stdin.flush()
            answer = process.stdout.readline()
        found = re.fullmatch(rb"[0-9a-f]+ ([a-z]+) ([0-9]+)\n", answer)
        if found is None:
            if not answer.endswith(b" missing\n"):
                stop(self._running.pop(mode))
            raise self._damaged(identity)
        return found[1], int(found[2])

    def _pipe(self, mode: str) -> IO[bytes]:
        pipe = self._running[mode].stdout
        assert pipe is not None
        return pipe

    def _damaged(self, identity: str) -> RecordError:
        return RecordError(f"Object {identity} of {self._repository} is missing or damaged.")


def _pieces(pipe: IO[bytes], size: int) -> Iterator[bytes]:
    while size > 0:
        piece = pipe.read(min(size, _CHUNK_BYTES))
        if not piece:
            return
        size -= len(piece)
        yield piece


def check_id(identity: str) -> str:
    """The name of an object, if it is one: what comes from a stranger's journal must not become an option of git.

    Raises:
        RecordError: it is no name of an object.
    """
    if not re.fullmatch(r"[0-9a-f]{64}", identity):
        raise RecordError(f"{identity!r} is not the id of a snapshot: 64 hexadecimal digits are expected.")
    return identity
