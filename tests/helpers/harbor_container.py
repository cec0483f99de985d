"""Bubblewrap in the place of the containers that Harbor builds: exported Dockerfiles are followed, except for `pip`.

It needs root, as there are several users inside, but neither an engine nor a network.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from podium.data.formats.archives import extract_tar

TOP = ("home", "logs", "opt", "solution", "tests", "tmp")
"""Folders that are the container's own."""
PYTHON = os.pathsep.join((sys.prefix, sys.base_prefix))
"""Where Python and the packages inside come from."""
VARIABLE = "HARBOR_CONTAINER_PYTHON"
"""Names those folders where this module is used by another Python."""


@dataclass
class Container:
    """The files of a container, and what runs in it."""

    root: Path
    environment: dict[str, str] = field(default_factory=dict)
    folder: str = "/"

    @classmethod
    def build(cls, context: Path, root: Path) -> Container:
        """What the Dockerfile of a folder makes of it."""
        made = cls(root)
        for name in TOP:
            (root / name).mkdir(parents=True)
        (root / "tmp").chmod(0o1777)
        for line in (context / "Dockerfile").read_text().splitlines():
            word, _, rest = line.partition(" ")
            made._follow(context, word, rest)
        return made

    def _follow(self, context: Path, word: str, rest: str) -> None:
        match word, rest.split():
            case "COPY", [source, target]:
                shutil.copytree(context / source, self.host(target), dirs_exist_ok=True)
            case "ADD", [archive, target]:
                with tarfile.open(context / archive) as packed:
                    extract_tar(packed, self.host(target))
            case "ENV", [setting]:
                self.environment |= [setting.split("=", 1)]
            case "WORKDIR", [folder]:
                self.folder = folder
            case "RUN", [command, *_] if command != "pip":
                self.run(["sh", "-c", rest], check=True)
            case _:
                assert word == "FROM" or rest.startswith("pip "), f"{word} {rest} is not understood"

    def host(self, path: str) -> Path:
        """Where a path of the container lies."""
        return self.root / path.lstrip("/")

    def run(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        check: bool = False,
    ) -> subprocess.CompletedProcess[str]:
        """Runs a program as root of the container; all that it has started is gone afterwards."""
        arguments = [*_bubblewrap(), "--chdir", cwd or self.folder]
        for name in TOP:
            arguments += ["--bind", str(self.root / name), f"/{name}"]
        arguments += _python()
        for name, text in {**self.environment, **(env or {})}.items():
            arguments += ["--setenv", name, text]
        return subprocess.run([*arguments, "--", *command], capture_output=True, text=True, check=check)


@cache
def _bubblewrap() -> tuple[str, ...]:
    system: list[tuple[str, ...]] = [("--ro-bind", f"/{name}", f"/{name}") for name in ("usr", "etc")]
    for path in map(Path, ("/bin", "/sbin", "/lib", "/lib64")):
        if path.is_symlink():
            system.append(("--symlink", str(path.readlink()), str(path)))
        elif path.exists():
            system.append(("--ro-bind", str(path), str(path)))
    apart = ("--unshare-pid", "--unshare-net", "--unshare-ipc", "--die-with-parent", "--cap-add", "ALL", "--clearenv")
    path = f"{_prefixes()[0]}/bin:/usr/bin:/bin"
    mounts = (word for words in system for word in words)
    return ("bwrap", *apart, *mounts, "--proc", "/proc", "--dev", "/dev", "--setenv", "PATH", path)


def _prefixes() -> list[str]:
    return os.environ.get(VARIABLE, PYTHON).split(os.pathsep)


@cache
def _python() -> tuple[str, ...]:
    """Mounts Python, which may lie in a folder that the container has one of its own of, such as /tmp."""
    mounts: list[str] = []
    for prefix in _prefixes():
        for above in reversed(Path(prefix).parents[:-1]):
            mounts += ["--dir", str(above)]  # which would be root's own otherwise
        mounts += ["--ro-bind", prefix, prefix]
    return tuple(mounts)


@cache
def reason_against() -> str | None:
    """Why there can be no such container here."""
    if os.geteuid() != 0:
        return "several users in one container need root"
    done = subprocess.run([*_bubblewrap(), "setpriv", "--reuid=60000", "--clear-groups", "true"], capture_output=True)
    return None if done.returncode == 0 else f"bubblewrap has no room for several users: {done.stderr!r}"
