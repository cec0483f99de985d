"""Docker backend: sandboxes in containers of a Docker or Podman engine on this machine, through the Engine API.

The first process of a container is `init.py`, which connects to a socket in a temporary folder: from then on, a
container is used like any other sandbox, including ports on its own loopback interface. Without an image, a container
shows the host's system and Python, as bubblewrap does; with one, those of the image, which must have a `python3`.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podium.errors import MissingExtraError, PodiumError
from podium.sandbox.backend import Capabilities
from podium.sandbox.docker.container import LABEL, USER_ID, USER_LABEL, ContainerInit
from podium.sandbox.interpreters.interpreter import SYSTEM_PATH
from podium.sandbox.interpreters.python_mounts import Pythons
from podium.sandbox.linux import leftovers
from podium.sandbox.linux.control_socket import PATIENCE_S
from podium.sandbox.linux.limits import cgroups
from podium.sandbox.linux.mounts import View, all_mounts, environments_in, host_view, login_environment
from podium.sandbox.linux.network import proxy_environment
from podium.sandbox.linux.supervised_sandbox import Setup, SupervisedSandbox, workspace_of
from podium.sandbox.policy import Enforcement
from podium.sandbox.spec import HOME, SandboxSpec

if TYPE_CHECKING:
    from docker import DockerClient


class Docker:
    """Backend for images, and for machines with an engine but without bubblewrap."""

    name = "docker"

    def capabilities(self) -> Capabilities:
        with _engine_errors(), contextlib.closing(_connect()) as client:
            return Capabilities(
                sealed=True,
                network="own",
                ports=True,
                limits=_enforcement(client.info()),
                core_binding=True,
                gpus=True,
                pausing=True,
                home=HOME,
            )

    def check(self, spec: SandboxSpec) -> None:
        with _engine_errors(), contextlib.closing(_connect()) as client:
            _view(client, spec, Path(HOME))

    def open(self, spec: SandboxSpec) -> SupervisedSandbox:
        with _engine_errors(), workspace_of(spec) as workspace:
            client = _connect()
            try:
                return self._open(client, spec, workspace)
            except BaseException:
                client.close()
                raise

    def _open(self, client: DockerClient, spec: SandboxSpec, workspace: Path) -> SupervisedSandbox:
        _remove_abandoned(client)
        view = _view(client, spec, workspace)
        if os.getuid() == 0:
            _change_owner(workspace)
        setup = Setup(
            backend=self.name,
            engine=_engine(client),
            sealed=True,
            home=HOME,
            workspace=workspace,
            spec=spec,
            view=view,
            enforcement=_enforcement({}),  # control groups show what the engine enforces
            network=spec.network,
            make_group=cgroups.group_of,
        )
        return SupervisedSandbox(setup, lambda folder: ContainerInit(client, spec, view, folder))


_ENFORCEMENT: dict[str, Enforcement] = {
    "shared_memory_bytes": "kernel",
    "file_bytes": "kernel",
    "disk_bytes": "watched",
    "files": "watched",
}


def _enforcement(info: dict[str, Any]) -> dict[str, Enforcement]:
    return {
        "memory_bytes": "kernel" if info.get("MemoryLimit") else "watched",
        "processes": "kernel" if info.get("PidsLimit") else "watched",
        **_ENFORCEMENT,
    }


def _connect() -> DockerClient:
    """Return a client of the engine at DOCKER_HOST, or of the default one.

    Raises:
        MissingExtraError: the client is not installed.
        PodiumError: no engine responds.
    """
    try:
        import docker
    except ImportError as error:
        raise MissingExtraError("--sandbox docker", "docker") from error
    try:
        return docker.from_env(timeout=int(2 * PATIENCE_S))
    except docker.errors.DockerException as error:
        raise PodiumError(
            f"No Docker engine responds: {error}. Start one (systemctl start docker), or start Podman's "
            "(systemctl --user start podman.socket) and set DOCKER_HOST to its socket."
        ) from error


@contextlib.contextmanager
def _engine_errors() -> Iterator[None]:
    """Convert errors of the engine or its client into errors of ours."""
    try:
        yield
    except PodiumError:
        raise
    except Exception as error:
        from docker.errors import DockerException
        from requests import RequestException

        if isinstance(error, DockerException | RequestException):
            raise PodiumError(f"The Docker engine reports an error: {error}") from error
        raise


def _engine(client: DockerClient) -> str:
    version = client.version()
    names = [part["Name"] for part in version.get("Components") or ()]
    is_podman = any("podman" in name.lower() for name in names)
    return f"{'Podman' if is_podman else 'Docker'} {version['Version']}"


def _view(client: DockerClient, spec: SandboxSpec, workspace: Path) -> View:
    """Return the view inside a container.

    Raises:
        PodiumError: the image is missing.
    """
    if spec.image is None:
        return host_view(spec, workspace)
    from docker.errors import ImageNotFound

    try:
        image = client.images.get(spec.image)
    except ImageNotFound as error:
        raise PodiumError(f"The engine has no image {spec.image}. Run: docker pull {spec.image}") from error
    variables = dict(line.partition("=")[::2] for line in image.attrs["Config"].get("Env") or ())
    path = variables.get("PATH", SYSTEM_PATH)
    path = path if spec.env is None else f"{spec.env}/bin:{path}"
    pythons = Pythons(environments_in(spec.mounts))
    return View(
        all_mounts(workspace, spec, pythons),
        {},
        {**variables, **login_environment(path), **proxy_environment(spec.network), **spec.environment},
        "python3",
        tuple(pythons.covers()),
    )


def _remove_abandoned(client: DockerClient) -> None:
    """Remove this user's containers whose processes were killed before they could do so.

    A container whose folder is not here may be in use on another machine that shares the engine; it is removed once it
    has exited.
    """
    from docker.errors import APIError

    filters = {"label": [LABEL, f"{USER_LABEL}={os.getuid()}"]}
    for container in client.containers.list(all=True, filters=filters, ignore_removed=True):
        folder = Path(container.labels[LABEL])
        if leftovers.is_abandoned(folder) or (not os.path.lexists(folder) and container.status in ("exited", "dead")):
            with contextlib.suppress(APIError):
                container.remove(force=True, v=True)


def _change_owner(workspace: Path) -> None:
    """Make the user of programs the owner of root's files in a workspace. No program is left that could plant links."""
    pending = [workspace]
    while pending:
        folder = pending.pop()
        with contextlib.suppress(OSError):
            os.chown(folder, USER_ID, USER_ID, follow_symlinks=False)
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(Path(entry.path))
                    elif entry.stat(follow_symlinks=False).st_uid == 0:
                        os.chown(entry.path, USER_ID, USER_ID, follow_symlinks=False)
