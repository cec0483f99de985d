"""What programs in a sealed sandbox see of the host: its system, a Python environment, the workspace and the mounts."""

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

# Of /etc only what programs need: read as the host's user, all of it could be told.
ETC = (
    "ld.so.cache", "localtime", "mime.types", "nsswitch.conf", "os-release", "protocols", "services",
    "ssl/openssl.cnf", "timezone",
)  # fmt: skip
CERTIFICATES = ("/etc/ssl/certs", "/etc/pki/tls/certs", "/etc/ca-certificates")
CPU_FACTS = "/sys/devices/system/cpu"
"""How many cores there are: thread pools ask."""
DEVICES = ("nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", "nvidia-modeset", "nvidia-caps")
SYSTEM_LINKS = ("bin", "sbin", "lib", "lib32", "lib64")
"""Folders of the root that are links into /usr on most systems."""


@dataclass(frozen=True)
class View:
    """Everything beside the system itself."""

    mounts: tuple[Mount, ...]
    hidden: dict[str, Path]
    """Paths inside mounts that are covered by something empty, with what is there on the host."""
    environment: dict[str, str]
    python: str
    """The interpreter of our own first process, as it is called inside."""
    covers: tuple[Cover, ...] = ()
    """What else is seen in the place of something in mounts."""


def host_view(spec: SandboxSpec, workspace: Path) -> View:
    """What a spec shows around a workspace, with the host's Python for programs and for our own first process.

    Raises:
        UsageError: there is no Python environment at `spec.env`.
    """
    found = interpreter.find_interpreter(spec.env)
    environment = Mount(source=found.prefix, target=found.place)
    pythons = Pythons([environment, *environments_in(spec.mounts)], own_python())
    mounts = all_mounts(workspace, spec, pythons)
    path = interpreter.search_path(found.place)
    return View(
        mounts,
        _hidden(mounts),
        {**usual_environment(path), **network.proxy_environment(spec.network), **spec.environment},
        pythons.inside(own_python()),
        tuple(pythons.covers()),
    )


def environments_in(mounts: Sequence[Mount]) -> list[Mount]:
    """Python environments among mounts: programs need the installations behind them as well. Data is not looked at."""
    outside = [mount for mount in mounts if not Path(mount.target).is_relative_to(HOME)]
    return [mount for mount in outside if (mount.source / "pyvenv.cfg").is_file()]


def all_mounts(workspace: Path, spec: SandboxSpec, pythons: Pythons) -> tuple[Mount, ...]:
    """The workspace, and on top of it what a spec and its Pythons show."""
    home = Mount(source=workspace, target=HOME, writable=True)
    return tuple(dict.fromkeys([home, *spec.mounts, *pythons.mounts()]))


def _hidden(mounts: Sequence[Mount]) -> dict[str, Path]:
    """Every trace of Podium outside the workspace, where data of any size may lie, by where it is seen."""
    searched = {"/usr": Path("/usr")}
    for mount in mounts:
        if not Path(mount.target).is_relative_to(HOME) or mount.target == str(mount.source):
            searched[mount.target] = mount.source.resolve()
    return {
        str(Path(target, trace.relative_to(folder))): trace
        for trace in sorted(interpreter.traces(searched.values()))
        for target, folder in searched.items()
        if trace.is_relative_to(folder)
    }


def own_python() -> Path:
    """The interpreter that Podium runs on, without its environment."""
    return Path(getattr(sys, "_base_executable", sys.executable)).resolve()


def usual_environment(path: str, *, home: str = HOME, user: str = "agent", temporary: str = "/tmp") -> dict[str, str]:
    """The variables that programs expect of a login."""
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
    """The mounts, with mounts also of the folders between a writable one and those inside it.

    Only what is a mount itself cannot be renamed: a program could move the folder around a read-only file away and put
    a file of its own in the place.

    Raises:
        PodiumError: a link is in the place of a mount, left there by a program.
    """
    taken = {mount.target for mount in mounts}
    for number, mount in enumerate(mounts):
        places = _places(mount, mounts[:number])
        _refuse_links(places)
        for folder in places[:-1]:
            folder.source.mkdir(exist_ok=True)
            if folder.target not in taken:
                taken.add(folder.target)
                yield folder
        yield mount


def _places(mount: Mount, earlier: tuple[Mount, ...]) -> list[Mount]:
    """The folders from the writable mount around a mount down to its own place, if it has one around it."""
    around = [other for other in earlier if Path(mount.target).is_relative_to(other.target)]
    outer = max(around, key=lambda other: len(other.target), default=mount)
    if not outer.writable:
        return []
    parts = Path(mount.target).relative_to(outer.target).parts
    steps = [Path(*parts[: number + 1]) for number in range(len(parts))]
    return [Mount(source=outer.source / step, target=f"{outer.target}/{step}", writable=True) for step in steps]


def _refuse_links(places: list[Mount]) -> None:
    for place in places:
        if place.source.is_symlink():
            raise PodiumError(
                f"{place.target} cannot be mounted: {place.source} is a link to {place.source.readlink()}, "
                "put there by a program inside. Remove it and start again."
            )
