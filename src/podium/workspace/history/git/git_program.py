"""The git program, used only for diffs and repacking, and only with a git directory that we have just created.

So it never sees a configuration, hook, attribute, alternate or reference that a stranger wrote. Reading is not its
business at all: see `reader`.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
from pathlib import Path

from podium.errors import RecordError

MIN_GIT_VERSION = (2, 29)
"""Minimum git version: the first that supports SHA-256 object ids."""
CONFIG = "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectformat = sha256\n"
HEAD = "ref: refs/heads/main\n"
_SETTINGS = {
    "core.packedGitLimit": "256m",
    "diff.renameLimit": "200",
    "gc.auto": "0",
    "pack.compression": "1",
    "pack.deltaCacheSize": "32m",
    "pack.threads": "1",
    "pack.windowMemory": "64m",
    "pack.writeReverseIndex": "false",
    "repack.writeBitmaps": "false",
}
_INSTALL = f"Install git {'.'.join(map(str, MIN_GIT_VERSION))} or newer, then try again."


def make_directory(folder: Path) -> None:
    """Turn an empty folder into a git directory."""
    for name in ("objects", "objects/pack", "refs"):
        (folder / name).mkdir()
    (folder / "config").write_text(CONFIG, encoding="ascii")
    (folder / "HEAD").write_text(HEAD, encoding="ascii")


def start(
    directory: Path, *arguments: str, objects: Path | None = None, keep: tuple[int, ...] = ()
) -> subprocess.Popen[bytes]:
    """Start git and return the process.

    Args:
        directory: a git directory of our own.
        objects: where the objects lie, if not in it.
        keep: the descriptors that it inherits.
    """
    settings = [word for name, value in _SETTINGS.items() for word in ("-c", f"{name}={value}")]
    environment = _environment() | ({} if objects is None else {"GIT_OBJECT_DIRECTORY": str(objects.absolute())})
    try:
        return subprocess.Popen(
            ["git", f"--git-dir={directory}", *settings, *arguments],
            env=environment,
            cwd=directory,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pass_fds=keep,
        )
    except FileNotFoundError as error:
        raise RecordError(f"The program git is not installed. {_INSTALL}") from error


def stop(process: subprocess.Popen[bytes]) -> None:
    """Stop a git process that may still be writing."""
    if process.stdout is not None:
        with contextlib.suppress(OSError):
            process.stdout.close()
    process.kill()
    process.wait()


def find_version() -> tuple[int, ...] | None:
    """Return the version of git, or None if it is not installed."""
    try:
        said = subprocess.run(["git", "version"], env=_environment(), capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    found = re.search(r"(\d+)\.(\d+)(?:\.(\d+))?", said.stdout)
    return tuple(int(part) for part in found.groups() if part) if found else None


def _environment() -> dict[str, str]:
    """Return an environment without any git configuration, attributes or network access."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "LC_ALL": "C",
        "HOME": "/nonexistent",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
    }
