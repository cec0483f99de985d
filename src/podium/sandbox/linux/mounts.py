"""Mounts of a sealed sandbox: the host's system, a Python environment, the workspace and further mounts."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from podium.errors import PodiumError
from podium.sandbox.interpreters import interpreter
from podium.sandbox.interpreters.python_mounts import Cover, Pythons
from podium.sandbox.linux import network
from podium.sandbox.spec import HOME, Mount, SandboxSpec

# Only those files of /etc that programs need: they are read with the rights of the host's user.
ETC = (
    "ld.so.cache", "localtime", "mime.types", "nsswitch.conf", "os-release", "protocols", "services",
    "ssl/openssl.cnf", "timezone",
)  # fmt: skip
CERTIFICATES = ("/etc/ssl/certs", "/etc/pki/tls/certs", "/etc/ca-certificates")
CPU_FACTS = "/sys/devices/system/cpu"
"""Number of cores, as thread pools read it."""
DEVICES = ("nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", "nvidia-modeset", "nvidia-caps")
SYSTEM_LINKS = ("bin", "sbin", "lib", "lib32", "lib64")
"""Folders in / that are links into /usr on most systems."""


@dataclass(frozen=True)
class View:
    """Everything that programs see besides the system itself."""

    mounts: tuple[Mount, ...]
    hidden: dict[str, Path]
    """Paths inside mounts that are hidden behind something empty, with their paths on the host."""
    environment: dict[str, str]
    python: str
    """Interpreter of `init.py`, by its path inside."""
    covers: tuple[Cover, ...] = ()
    """Replacements for files and folders inside mounts."""


def host_view(spec: SandboxSpec, workspace: Path) -> View:
    """Return the view defined by a spec and a workspace, with the host's Python for programs and for `init.py`.

    Raises:
        UsageError: there is no Python environment at `spec.env`.
    """
    python = interpreter.find_interpreter(spec.env)
    environment = Mount(source=python.prefix, target=python.shown_prefix)
    pythons = Pythons([environment, *environments_in(spec.mounts)], own_python())
    mounts = all_mounts(workspace, spec, pythons)
    path = interpreter.search_path(python.shown_prefix)
    return View(
        mounts,
        _hidden(mounts),
        {**login_environment(path), **network.proxy_environment(spec.network), **spec.environment},
        pythons.inside(own_python()),
        tuple(pythons.covers()),
    )


def environments_in(mounts: Sequence[Mount]) -> list[Mount]:
    """Return the mounts that are Python environments, whose base installations are needed too. Data is not searched."""
    outside = [mount for mount in mounts if not Path(mount.target).is_relative_to(HOME)]
    return [mount for mount in outside if (mount.source / "pyvenv.cfg").is_file()]


def all_mounts(workspace: Path, spec: SandboxSpec, pythons: Pythons) -> tuple[Mount, ...]:
    """Return the workspace, followed by the mounts of a spec and its Pythons."""
    home = Mount(source=workspace, target=HOME, writable=True)
    return tuple(dict.fromkeys([home, *spec.mounts, *pythons.mounts()]))


def _hidden(mounts: Sequence[Mount]) -> dict[str, Path]:
    """Return every trace of Podium, by path inside, except in the workspace, which may hold data of any size."""
    searched = {"/usr": Path("/usr")}
    for mount in mounts:
        if not Path(mount.target).is_relative_to(HOME) or mount.target == str(mount.source):
            searched[mount.target] = mount.source.resolve()
    return {
        str(Path(target, trace.relative_to(folder))): trace
        for trace in sorted(interpreter.podium_traces(searched.values()))
        for target, folder in searched.items()
        if trace.is_relative_to(folder)
    }


def own_python() -> Path:
    """Return the interpreter that Podium runs on, without its environment."""
    return Path(getattr(sys, "_base_executable", sys.executable)).resolve()


def login_environment(path: str, *, home: str = HOME, user: str = "agent", temporary: str = "/tmp") -> dict[str, str]:
    """Return the variables that programs expect after a login."""
    return {
        "HOME": home,
        "LANG": "C.UTF-8",
        "LOGNAME": user,
        "PATH": path,
        "SHELL": "/bin/sh",
        "TMPDIR": temporary,
        "USER": user,
    }


def in_order(mounts: tuple[Mount, ...]) -> Iterator[Mount]:
    """Yield the mounts, preceded by mounts of the folders between a writable one and those inside it.

    Only a mount point cannot be renamed: otherwise a program could move away the folder around a read-only file and put
    a file of its own there.

    Raises:
        PodiumError: a program has left a link at the path of a mount.
    """
    taken = {mount.target for mount in mounts}
    for number, mount in enumerate(mounts):
        folders = _folders_down_to(mount, mounts[:number])
        _refuse_links(folders)
        for folder in folders[:-1]:
            folder.source.mkdir(exist_ok=True)
            if folder.target not in taken:
                taken.add(folder.target)
                yield folder
        yield mount


def _folders_down_to(mount: Mount, earlier: tuple[Mount, ...]) -> list[Mount]:
    """Return the folders from the enclosing writable mount down to the path of a mount, or nothing without one."""
    around = [other for other in earlier if Path(mount.target).is_relative_to(other.target)]
    outer = max(around, key=lambda other: len(other.target), default=mount)
    if not outer.writable:
        return []
    parts = Path(mount.target).relative_to(outer.target).parts
    steps = [Path(*parts[: number + 1]) for number in range(len(parts))]
    return [Mount(source=outer.source / step, target=f"{outer.target}/{step}", writable=True) for step in steps]


def _refuse_links(folders: list[Mount]) -> None:
    for folder in folders:
        if folder.source.is_symlink():
            raise PodiumError(
                f"{folder.target} cannot be mounted: {folder.source} is a link to {folder.source.readlink()}, "
                "put there by a program inside. Remove it and start again."
            )
