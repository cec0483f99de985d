"""`init.py` as the first process of a container."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podium.errors import PodiumError
from podium.sandbox.docker.container_image import host_image
from podium.sandbox.interpreters.python_mounts import Cover
from podium.sandbox.linux import init, mounts, seccomp
from podium.sandbox.linux.control_socket import PATIENCE_S
from podium.sandbox.linux.mounts import View
from podium.sandbox.linux.supervised_sandbox import open_files_of_programs
from podium.sandbox.spec import SandboxSpec

if TYPE_CHECKING:
    from docker import DockerClient
    from docker.models.containers import Container

USER_ID = 1000
"""Of programs, where Podium's own user is root."""
LABEL = "podium.folder"
"""Of a container: the folder of its sandbox, whose claim tells whether anybody uses it."""
USER_LABEL = "podium.user"
"""Of a container: the number of the user who opened it."""
RUN = "/run/podium"
_LOOK_S = 0.2


class ContainerInit:
    """A container from its start to its end."""

    def __init__(self, client: DockerClient, spec: SandboxSpec, seen: View, folder: Path) -> None:
        """Starts it and waits until its first process has connected; closes the client when it is removed."""
        self._client = client
        self._container: Container | None = None
        with contextlib.closing(_prepare(folder)) as listener:
            self._container = client.containers.create(**_options(client, spec, seen, folder))
            try:
                self._container.start()
                self.channel = self._accept(self._container, listener)
            except BaseException:
                self._remove()
                raise
        (folder / "run" / "control").unlink()  # before there is any program that could connect

    def _accept(self, container: Container, listener: socket.socket) -> socket.socket:
        until = time.monotonic() + PATIENCE_S
        listener.settimeout(_LOOK_S)
        while True:
            with contextlib.suppress(TimeoutError):
                channel, _ = listener.accept()
                channel.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
                return channel
            container.reload()
            if container.status not in ("created", "running"):
                raise PodiumError(f"the sandbox does not start: {self.messages().strip() or 'its container has ended'}")
            if time.monotonic() > until:
                raise PodiumError(
                    "the sandbox does not start: its container runs but does not reach this process. "
                    "The engine must run on this machine and see the same files"
                )

    def is_running(self) -> bool:
        from docker.errors import NotFound

        if self._container is None:
            return False
        try:
            self._container.reload()
        except NotFound:
            return False
        return bool(self._container.status == "running")

    def wait(self, timeout_s: float) -> bool:
        """Removes the container, whether or not it has ended by itself."""
        return self._remove()

    def kill(self, pid: int | None) -> None:
        """The last resort where the engine does not answer any more."""
        with contextlib.suppress(OSError):
            if pid is not None:
                os.kill(pid, signal.SIGKILL)

    def messages(self) -> str:
        return "" if self._container is None else self._container.logs().decode("utf-8", "replace")

    def _remove(self) -> bool:
        from docker.errors import APIError, NotFound
        from requests import RequestException

        try:
            if self._container is not None:
                self._container.remove(force=True, v=True)
        except NotFound:
            pass
        except (APIError, RequestException):
            return False
        self._container = None
        self._client.close()
        return True


def _prepare(folder: Path) -> socket.socket:
    """Fills the folder of a sandbox; a socket that listens in it."""
    for name, mode in (("tmp", 0o1777), ("var-tmp", 0o1777), ("run", 0o755), ("empty", 0o555)):
        (folder / name).mkdir()
        (folder / name).chmod(mode)
    (folder / "empty-file").touch()
    for name in ("devices/system/cpu", "fs/cgroup"):  # of /sys nothing else is shown
        (folder / "sys" / name).mkdir(parents=True)
    run = folder / "run"
    shutil.copyfile(init.__file__, run / "init.py")
    (run / "seccomp").write_bytes(seccomp.program())
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    # The address of a socket has to be short, and where temporary files go may not be.
    handle = os.open(run, os.O_PATH | os.O_DIRECTORY)
    try:
        listener.bind(f"/proc/self/fd/{handle}/control")
    finally:
        os.close(handle)
    (run / "control").chmod(0o666)
    listener.listen(1)
    return listener


def _options(client: DockerClient, spec: SandboxSpec, seen: View, folder: Path) -> dict[str, Any]:
    """Arguments for the engine."""
    from docker.types import Ulimit

    limits, files = spec.limits.effective(), open_files_of_programs()
    user = f"{os.getuid() or USER_ID}:{os.getgid() or USER_ID}"
    options: dict[str, Any] = {
        "image": spec.image or host_image(client, user),
        "entrypoint": [seen.python],
        "command": ["-I", "-S", "-B", f"{RUN}/init.py", f"{RUN}/control", f"{RUN}/seccomp"],
        "user": user,
        "working_dir": "/",
        "hostname": "podium",
        "labels": {LABEL: str(folder), USER_LABEL: str(os.getuid())},
        "network_mode": "bridge" if spec.network is True else "none",
        "cgroupns": "private",
        "ipc_mode": "private",
        "read_only": True,
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges"],
        "pids_limit": limits.processes,
        "shm_size": limits.shared_memory_bytes,
        "ulimits": [Ulimit(name="nofile", soft=files, hard=files), Ulimit(name="core", soft=0, hard=0)],
        "mounts": _mounts(spec, seen, folder),
    }
    if limits.memory_bytes is not None:
        options |= {"mem_limit": limits.memory_bytes, "memswap_limit": limits.memory_bytes}
    if _is_rootless_podman(client):
        options["userns_mode"] = "keep-id"  # the user inside is the one outside, who can bind programs to cores
    return options | _gpus(spec)


def _mounts(spec: SandboxSpec, seen: View, folder: Path) -> list[Any]:
    from docker.types import Mount

    pairs = [
        (folder / "run", RUN, False),
        (folder / "tmp", "/tmp", True),
        (folder / "var-tmp", "/var/tmp", True),
        (folder / "sys", "/sys", False),
        (folder / "empty", "/sys/fs/cgroup", False),
        (Path(mounts.CPU_FACTS), mounts.CPU_FACTS, False),
    ]
    if spec.image is None:
        pairs += [(path, str(path), False) for path in _system(network=bool(spec.network))]
    pairs += [(mount.source, mount.target, mount.writable) for mount in mounts.in_order(seen.mounts)]
    pairs += [
        (source, target, False)
        for number, cover in enumerate(seen.covers)
        for source, target in _cover(cover, folder / f"cover-{number}")
    ]
    for path, host in seen.hidden.items():
        pairs.append((folder / ("empty" if host.is_dir() else "empty-file"), path, False))
    return [
        Mount(target, str(source.absolute()), type="bind", read_only=not writable) for source, target, writable in pairs
    ]


def _cover(cover: Cover, made: Path) -> Iterator[tuple[Path, str]]:
    """Makes a cover; it, and what it shows of the host, with the places where they are seen."""
    yield made, cover.target
    if isinstance(cover.content, bytes):
        _write(made, cover.content)
        return
    made.mkdir()
    made.chmod(0o755)
    for name, entry in cover.content.items():
        if isinstance(entry, str):
            (made / name).symlink_to(entry)
            continue
        _write(made / name, entry if isinstance(entry, bytes) else b"")
        if isinstance(entry, Path):
            yield entry, f"{cover.target}/{name}"


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    path.chmod(0o755)  # programs may be another user's, whatever the umask


def _system(*, network: bool) -> list[Path]:
    """The folders of the host that are its system."""
    names = ["/usr", "/etc/alternatives", *(mounts.CERTIFICATES if network else ())]
    folders = [*map(Path, names), *(Path("/", name) for name in mounts.SYSTEM_LINKS)]
    return [folder for folder in folders if folder.exists() and not folder.is_symlink()]


def _gpus(spec: SandboxSpec) -> dict[str, Any]:
    if not spec.gpus:
        return {}
    if spec.image is not None:  # its libraries have to be put into it, which the engine can
        from docker.types import DeviceRequest

        return {"device_requests": [DeviceRequest(device_ids=[*map(str, spec.gpus)], capabilities=[["gpu"]])]}
    devices = [Path("/dev", name) for name in (*mounts.DEVICES, *(f"nvidia{number}" for number in spec.gpus))]
    return {"devices": [f"{path}:{path}:rwm" for path in devices if path.exists()]}


def _is_rootless_podman(client: DockerClient) -> bool:
    components = client.version().get("Components") or ()
    is_podman = any("podman" in part["Name"].lower() for part in components)
    return is_podman and any("rootless" in option for option in client.info().get("SecurityOptions") or ())
