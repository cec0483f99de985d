"""Bubblewrap backend: sandboxes without root, one long-lived `bwrap` process each, in its own namespaces."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from podium.errors import PodiumError
from podium.sandbox.backend import Capabilities
from podium.sandbox.interpreters.python_mounts import Cover
from podium.sandbox.linux import mounts, network, seccomp
from podium.sandbox.linux.init_client import ChildInit, compiled_init
from podium.sandbox.linux.limits import systemd_scope
from podium.sandbox.linux.mounts import View, host_view
from podium.sandbox.linux.supervised_sandbox import Setup, SupervisedSandbox, refuse_image, workspace_of
from podium.sandbox.policy import Enforcement
from podium.sandbox.spec import HOME, Mount, SandboxSpec

USER_ID = 1000
INIT = "/run/podium/init.pyc"


class Bubblewrap:
    """Default backend."""

    name = "bubblewrap"

    def capabilities(self) -> Capabilities:
        find_bubblewrap()
        return Capabilities(
            sealed=True,
            network="own",
            ports=True,
            limits={**_enforcement(), **dict.fromkeys(systemd_scope.limits_held(), "kernel")},
            core_binding=True,
            gpus=True,
            pausing=True,
            home=HOME,
        )

    def check(self, spec: SandboxSpec) -> None:
        find_bubblewrap()
        refuse_image(self.name, spec)
        if spec.network is True:
            network.find_carrier()
        host_view(spec, Path(HOME))

    def open(self, spec: SandboxSpec) -> SupervisedSandbox:
        bwrap = find_bubblewrap()
        refuse_image(self.name, spec)
        with workspace_of(spec) as workspace:
            view = host_view(spec, workspace)
            setup = Setup(
                backend=self.name,
                engine=_version(bwrap),
                sealed=True,
                home=HOME,
                workspace=workspace,
                spec=spec,
                view=view,
                enforcement=_enforcement(),
                network=spec.network,
                connect=network.connect if spec.network is True else None,
                has_process_limit=True,
            )
            return SupervisedSandbox(setup, lambda folder: _launch(bwrap, spec, view, folder))


def find_bubblewrap() -> str:
    """Return the path of the bwrap program.

    Raises:
        PodiumError: it is not installed.
    """
    path = shutil.which("bwrap")
    if path is None:
        raise PodiumError(
            "The sandbox needs bubblewrap, which is not installed. Install it (Debian, Ubuntu: apt install bubblewrap; "
            "Fedora: dnf install bubblewrap), or use Docker: --sandbox docker. Check again with: podium doctor"
        )
    return path


def _enforcement() -> dict[str, Enforcement]:
    # The kernel counts the processes of a user per user namespace, but does not limit root.
    return {
        "memory_bytes": "watched",
        "shared_memory_bytes": "kernel",
        "processes": "watched" if os.getuid() == 0 else "kernel",
        "file_bytes": "kernel",
        "disk_bytes": "watched",
        "files": "watched",
    }


@cache
def _version(bwrap: str) -> str:
    done = subprocess.run([bwrap, "--version"], capture_output=True, text=True, check=False)
    return done.stdout.strip() or "bubblewrap"


def _launch(bwrap: str, spec: SandboxSpec, view: View, folder: Path) -> ChildInit:
    files = {
        "passwd": f"agent:x:{USER_ID}:{USER_ID}::{HOME}:/bin/sh\n",
        "group": f"agent:x:{USER_ID}:\n",
        "hosts": "127.0.0.1 localhost\n::1 localhost\n",
        "resolv.conf": network.RESOLV_CONF,
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    for name in ("tmp", "var-tmp"):
        (folder / name).mkdir()
        (folder / name).chmod(0o1777)
    (folder / "seccomp").write_bytes(seccomp.program())
    (folder / "init.pyc").write_bytes(compiled_init(INIT))
    command = [bwrap, *arguments(spec, view, folder), "--", view.python]
    return ChildInit(command, INIT, folder / "messages", spec.limits.effective())


def arguments(spec: SandboxSpec, view: View, folder: Path) -> Iterator[str | Path | bytes]:
    """Yield bwrap's options; a path becomes a descriptor of that file, bytes a descriptor of that content.

    Args:
        folder: contains `tmp`, `var-tmp`, the files of /etc, the filter `seccomp` and the program `init.pyc`.
    """
    for kind in ("user", "pid", "net", "ipc", "uts", "cgroup"):
        yield f"--unshare-{kind}"
    yield from ("--uid", str(USER_ID), "--gid", str(USER_ID), "--hostname", "podium", "--new-session", "--as-pid-1")
    yield from ("--cap-drop", "ALL", "--clearenv", "--seccomp", folder / "seccomp")
    yield from _system()
    yield from ("--file", folder / "init.pyc", INIT)
    for name in ("passwd", "group", "hosts", *(("resolv.conf",) if spec.network is True else ())):
        yield from ("--file", folder / name, f"/etc/{name}")
    if spec.network:
        for path in mounts.CERTIFICATES:
            yield from ("--ro-bind-try", path, path)
    # If the host's user is root, programs could otherwise change kernel settings.
    yield from ("--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys", "--dev", "/dev")
    yield from _devices(spec.gpus)
    yield from ("--size", str(spec.limits.effective().shared_memory_bytes), "--perms", "1777", "--tmpfs", "/dev/shm")
    yield from ("--bind", str(folder / "tmp"), "/tmp", "--bind", str(folder / "var-tmp"), "/var/tmp")
    yield from _mounts(view.mounts)
    yield from _covers(view.covers)
    for path, host in view.hidden.items():
        yield from ("--tmpfs", path, "--remount-ro", path) if host.is_dir() else ("--ro-bind", "/dev/null", path)
    # A writable rest of bwrap's own tmpfs would be memory that no limit counts.
    yield from ("--remount-ro", "/dev", "--remount-ro", "/")


def _mounts(requested: tuple[Mount, ...]) -> Iterator[str]:
    for mount in mounts.in_order(requested):
        if mount.source.is_symlink() and str(mount.source) == mount.target:
            yield from ("--symlink", str(mount.source.readlink()), mount.target)
        else:
            yield from ("--bind" if mount.writable else "--ro-bind", str(mount.source), mount.target)


def _covers(covers: tuple[Cover, ...]) -> Iterator[str | bytes]:
    # In bwrap's own memory: dozens of files in a temporary folder would take longer than everything else.
    for cover in covers:
        if isinstance(cover.content, bytes):
            yield from ("--ro-bind-data", cover.content, cover.target)
            continue
        yield from ("--tmpfs", cover.target)
        for name, entry in cover.content.items():
            match entry:
                case str():
                    yield from ("--symlink", entry)
                case bytes():
                    yield from ("--perms", "0755", "--file", entry)
                case Path():
                    yield from ("--ro-bind", str(entry))
            yield f"{cover.target}/{name}"
        yield from ("--remount-ro", cover.target)


def _system() -> Iterator[str | Path]:
    yield from ("--ro-bind", "/usr", "/usr")
    for folder in ("/etc/alternatives", mounts.CPU_FACTS):
        yield from ("--ro-bind-try", folder, folder)
    for path in (Path("/", name) for name in mounts.SYSTEM_LINKS):
        if path.is_symlink():
            yield from ("--symlink", str(path.readlink()), str(path))
        elif path.exists():
            yield from ("--ro-bind", str(path), str(path))
    # Files in bwrap's own memory, not mounts: each mount adds a millisecond to the start of a sandbox.
    for path in (Path("/etc", name) for name in mounts.ETC):
        if path.is_file():
            yield from ("--file", path, str(path))


def _devices(gpus: tuple[int, ...]) -> Iterator[str]:
    for name in (*mounts.DEVICES, *(f"nvidia{number}" for number in gpus)) if gpus else ():
        yield from ("--dev-bind-try", f"/dev/{name}", f"/dev/{name}")
