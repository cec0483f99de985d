"""Container whose first process is `init.py`."""

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
"""User ID of programs if Podium's own user is root."""
LABEL = "podium.folder"
"""Container label: the folder of its sandbox, whose lock shows whether it is in use."""
USER_LABEL = "podium.user"
"""Container label: the ID of the user who opened it."""
RUN = "/run/podium"
_LOOK_S = 0.2


class ContainerInit:
    """Container from its start to its end."""

    def __init__(self, client: DockerClient, spec: SandboxSpec, view: View, folder: Path) -> None:
        """Start the container and wait until its first process has connected; removing it later closes the client."""
        self._client = client
        self._container: Container | None = None
        with contextlib.closing(_prepare(folder)) as listener:
            self._container = client.containers.create(**_options(client, spec, view, folder))
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
                reason = self.messages().strip() or "its container has ended"
                raise PodiumError(f"The sandbox does not start: {reason}. Check this machine with: podium doctor")
            if time.monotonic() > until:
                raise PodiumError(
                    "The sandbox does not start: its container runs but does not reach this process. "
                    "The engine must run on this machine and share its files."
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
        """Remove the container, even if it is still running; return whether it is gone."""
        return self._remove()

    def kill(self, pid: int | None) -> None:
        """Kill the first process, as a last resort if the engine no longer responds."""
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
    """Fill the folder of a sandbox; return a socket that listens in it."""
    for name, mode in (("tmp", 0o1777), ("var-tmp", 0o1777), ("run", 0o755), ("empty", 0o555)):
        (folder / name).mkdir()
        (folder / name).chmod(mode)
    (folder / "empty-file").touch()
    for name in ("devices/system/cpu", "fs/cgroup"):  # the only parts of /sys that are shown
        (folder / "sys" / name).mkdir(parents=True)
    run = folder / "run"
    shutil.copyfile(init.__file__, run / "init.py")
    (run / "seccomp").write_bytes(seccomp.program())
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    # Addresses of sockets must be short, but the path of the temporary folder may be long.
    handle = os.open(run, os.O_PATH | os.O_DIRECTORY)
    try:
        listener.bind(f"/proc/self/fd/{handle}/control")
    finally:
        os.close(handle)
    (run / "control").chmod(0o666)
    listener.listen(1)
    return listener


def _options(client: DockerClient, spec: SandboxSpec, view: View, folder: Path) -> dict[str, Any]:
    """Return the options of a container for the engine."""
    from docker.types import Ulimit

    limits, files = spec.limits.effective(), open_files_of_programs()
    user = f"{os.getuid() or USER_ID}:{os.getgid() or USER_ID}"
    options: dict[str, Any] = {
        "image": spec.image or host_image(client, user),
        "entrypoint": [view.python],
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
        "mounts": _mounts(spec, view, folder),
    }
    if limits.memory_bytes is not None:
        options |= {"mem_limit": limits.memory_bytes, "memswap_limit": limits.memory_bytes}
    if _is_rootless_podman(client):
        options["userns_mode"] = "keep-id"  # same user ID on both sides, so that we can bind programs to cores
    return options | _gpus(spec)


def _mounts(spec: SandboxSpec, view: View, folder: Path) -> list[Any]:
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
    pairs += [(mount.source, mount.target, mount.writable) for mount in mounts.in_order(view.mounts)]
    pairs += [
        (source, target, False)
        for number, cover in enumerate(view.covers)
        for source, target in _cover(cover, folder / f"cover-{number}")
    ]
    for path, host in view.hidden.items():
        pairs.append((folder / ("empty" if host.is_dir() else "empty-file"), path, False))
    return [
        Mount(target, str(source.absolute()), type="bind", read_only=not writable) for source, target, writable in pairs
    ]


def _cover(cover: Cover, made: Path) -> Iterator[tuple[Path, str]]:
    """Create a cover; yield it, and the host files it shows, with their paths inside."""
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
    path.chmod(0o755)  # programs may run as another user; independent of the umask


def _system(*, network: bool) -> list[Path]:
    """Return the folders of the host's system."""
    names = ["/usr", "/etc/alternatives", *(mounts.CERTIFICATES if network else ())]
    folders = [*map(Path, names), *(Path("/", name) for name in mounts.SYSTEM_LINKS)]
    return [folder for folder in folders if folder.exists() and not folder.is_symlink()]


def _gpus(spec: SandboxSpec) -> dict[str, Any]:
    if not spec.gpus:
        return {}
    if spec.image is not None:  # the engine can add the driver libraries that it needs
        from docker.types import DeviceRequest

        return {"device_requests": [DeviceRequest(device_ids=[*map(str, spec.gpus)], capabilities=[["gpu"]])]}
    devices = [Path("/dev", name) for name in (*mounts.DEVICES, *(f"nvidia{number}" for number in spec.gpus))]
    return {"devices": [f"{path}:{path}:rwm" for path in devices if path.exists()]}


def _is_rootless_podman(client: DockerClient) -> bool:
    components = client.version().get("Components") or ()
    is_podman = any("podman" in part["Name"].lower() for part in components)
    return is_podman and any("rootless" in option for option in client.info().get("SecurityOptions") or ())
