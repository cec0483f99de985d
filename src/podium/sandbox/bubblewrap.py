"""A policy as a bubblewrap command line."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from podium.errors import PodiumError
from podium.sandbox.policy import USER_ID, Limits, Mount, Policy

# Of /etc only what programs need: read as the host's user, all of it could be told.
_ETC = (
    "ld.so.cache", "localtime", "mime.types", "nsswitch.conf", "os-release", "protocols", "services",
    "ssl/openssl.cnf", "timezone",
)  # fmt: skip
_NETWORK = ("/etc/resolv.conf", "/etc/ssl/certs", "/etc/pki/tls/certs", "/etc/ca-certificates")
_DEVICES = ("nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", "nvidia-modeset", "nvidia-caps")
WARDEN = "/run/podium/warden.pyc"
_CPU_FACTS = "/sys/devices/system/cpu"  # how many cores there are: thread pools ask


def find_bubblewrap() -> str:
    """The bwrap program.

    Raises:
        PodiumError: it is not installed.
    """
    path = shutil.which("bwrap")
    if path is None:
        raise PodiumError(
            "no sealed sandbox: bubblewrap is not installed. Install it (Debian, Ubuntu: apt install bubblewrap; "
            "Fedora: dnf install bubblewrap), or use Docker: --sandbox docker. `podium doctor` checks again."
        )
    return path


def arguments(policy: Policy, temporary: Path, *, warden: Path) -> Iterator[str | Path]:
    """bwrap's options for a policy; a path among them stands for a descriptor of that file.

    Args:
        temporary: a folder that holds `tmp`, `var-tmp`, `passwd`, `group`, `hosts` and the filter `seccomp`.
        warden: the program to be found inside at WARDEN, compiled.
    """
    yield from ("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup")
    if not policy.network:
        yield "--unshare-net"
    yield from ("--uid", str(USER_ID), "--gid", str(USER_ID), "--hostname", "podium", "--new-session", "--as-pid-1")
    yield from ("--cap-drop", "ALL", "--clearenv", "--seccomp", temporary / "seccomp")
    yield from _system()
    yield from ("--file", warden, WARDEN)
    for name in ("passwd", "group", "hosts"):
        yield from ("--file", temporary / name, f"/etc/{name}")
    if policy.network:
        for path in _NETWORK:
            yield from ("--ro-bind-try", path, path)
    # Where the host's user is root the settings of the kernel would be the program's to change.
    yield from ("--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys", "--dev", "/dev")
    yield from _devices(policy.gpus)
    yield from ("--size", str(_shared_memory(policy.limits)), "--perms", "1777", "--tmpfs", "/dev/shm")
    yield from ("--bind", str(temporary / "tmp"), "/tmp", "--bind", str(temporary / "var-tmp"), "/var/tmp")
    yield from _mounts(policy.mounts)
    for path in policy.hidden:
        yield from ("--tmpfs", path, "--remount-ro", path) if Path(path).is_dir() else ("--ro-bind", "/dev/null", path)
    # What is left of bwrap's own tmpfs would be memory that no limit counts.
    yield from ("--remount-ro", "/dev", "--remount-ro", "/")


def _shared_memory(limits: Limits) -> int:
    # What lies there stays when its programs have been killed for their memory: it may not leave the next ones none.
    return min(limits.shared_memory_bytes, (limits.memory_bytes or 2 * limits.shared_memory_bytes) // 2)


def _mounts(mounts: tuple[Mount, ...]) -> Iterator[str]:
    """The mounts, with mounts also of the folders between a writable one and those inside it.

    Only what is a mount itself cannot be renamed: a program could move the folder around a read-only file away and put
    a file of its own in the place.
    """
    taken = {mount.target for mount in mounts}
    for number, mount in enumerate(mounts):
        places = _places(mount, mounts[:number])
        _refuse_links(places)
        for folder in places[:-1]:
            folder.source.mkdir(exist_ok=True)
            if folder.target not in taken:
                taken.add(folder.target)
                yield from ("--bind", str(folder.source), folder.target)
        if mount.source.is_symlink() and str(mount.source) == mount.target:
            yield from ("--symlink", str(mount.source.readlink()), mount.target)
        else:
            yield from ("--bind" if mount.writable else "--ro-bind", str(mount.source), mount.target)


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


def _system() -> Iterator[str | Path]:
    yield from ("--ro-bind", "/usr", "/usr")
    for folder in ("/etc/alternatives", _CPU_FACTS):
        yield from ("--ro-bind-try", folder, folder)
    for name in ("bin", "sbin", "lib", "lib32", "lib64"):
        path = Path("/", name)
        if path.is_symlink():
            yield from ("--symlink", str(path.readlink()), str(path))
        elif path.exists():
            yield from ("--ro-bind", str(path), str(path))
    # Files of bwrap's own, not mounts: each mount costs a millisecond at the start of the sandbox.
    for path in (Path("/etc", name) for name in _ETC):
        if path.is_file():
            yield from ("--file", path, str(path))


def _devices(gpus: tuple[int, ...]) -> Iterator[str]:
    for name in (*_DEVICES, *(f"nvidia{number}" for number in gpus)) if gpus else ():
        yield from ("--dev-bind-try", f"/dev/{name}", f"/dev/{name}")
