"""No sandbox: programs run as child processes of this user, in the workspace folder. Asked for by name, never chosen.

They are killed as a whole and watched for their limits like all others, but see and may do whatever the user may.
"""

from __future__ import annotations

import errno
import os
import pwd
from collections.abc import Callable
from functools import partial
from pathlib import Path

from podium.errors import PodiumError
from podium.sandbox.backend import Capabilities
from podium.sandbox.interpreters.interpreter import find_interpreter, search_path
from podium.sandbox.linux import workspace_files
from podium.sandbox.linux.init_client import ChildInit, compiled_init
from podium.sandbox.linux.limits import systemd_scope
from podium.sandbox.linux.mounts import View, own_python, usual_environment
from podium.sandbox.linux.supervised_sandbox import Setup, SupervisedSandbox, refuse_image, workspace_of
from podium.sandbox.policy import Enforcement
from podium.sandbox.spec import HOME, Limits, Mount, SandboxSpec

_ENFORCEMENT: dict[str, Enforcement] = {
    "memory_bytes": "watched",
    "shared_memory_bytes": "no",
    "processes": "watched",
    "file_bytes": "kernel",
    "disk_bytes": "watched",
    "files": "watched",
}
_LONGEST_PATH = 4095


class NoSandbox:
    """The backend that seals nothing."""

    name = "none"

    def capabilities(self) -> Capabilities:
        return Capabilities(
            sealed=False,
            network="always",
            ports=True,
            limits={**_ENFORCEMENT, **dict.fromkeys(systemd_scope.limits_held(), "kernel")},
            core_binding=False,
            gpus=True,
            pausing=True,
            home=None,
        )

    def check(self, spec: SandboxSpec) -> None:
        refuse_image(self.name, spec)
        if isinstance(spec.network, tuple):
            raise PodiumError("without a sandbox programs reach every host: a list of hosts needs a sealed sandbox")
        find_interpreter(spec.env)
        for mount in spec.mounts:
            _place(mount, Path(HOME))

    def open(self, spec: SandboxSpec) -> SupervisedSandbox:
        self.check(spec)
        with workspace_of(spec) as workspace:
            home = workspace.resolve()
            mounts = (Mount(source=home, target=str(home), writable=True), *_link_all(spec.mounts, home))
            user = _user_name()
            path = search_path(find_interpreter(spec.env).prefix)
            environment = usual_environment(path, home=str(home), user=user)
            seen = View(mounts, {}, {**environment, **spec.environment}, str(own_python()))
            setup = Setup(
                backend=self.name,
                engine="",
                sealed=False,
                home=str(home),
                workspace=workspace,
                spec=spec,
                seen=seen,
                enforcement=_ENFORCEMENT,
                network=True,
            )
            launch = partial(_launch, python=seen.python, limits=spec.limits.effective())
            return UnsealedSandbox(setup, launch, read_only=_sources(spec.mounts, writable=False))


class UnsealedSandbox(SupervisedSandbox):
    """An open one. Files are opened by this process, which no link in the workspace leads astray."""

    def __init__(self, setup: Setup, launch: Callable[[Path], ChildInit], *, read_only: list[Path]) -> None:
        self._read_only = read_only
        super().__init__(setup, launch)

    def open(self, path: str, flags: int = os.O_RDONLY, *, parents: bool = False) -> int:
        """A descriptor of a file. From inside the workspace links lead to mounts, and to nothing else outside.

        Raises:
            OSError: as `os.open` would.
        """
        if not self.is_running:
            raise self._control.gone()
        absolute = self._inside(path)
        if "\0" in path:
            raise OSError(errno.EINVAL, "embedded null byte", path)
        if len(os.fsencode(absolute)) > _LONGEST_PATH:
            raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG), path)
        is_named_outside = not Path(os.path.normpath(absolute)).is_relative_to(self.home)
        target = Path(os.path.realpath(absolute))
        writes = flags & (os.O_WRONLY | os.O_RDWR)
        if writes and any(target.is_relative_to(source) for source in self._read_only):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)
        roots = [Path("/")] if is_named_outside else [Path(self.home), *_sources(self._setup.seen.mounts)]
        root = next((root for root in roots if target.is_relative_to(root)), None)
        if root is None:
            raise PermissionError(errno.EACCES, "leads out of the workspace", path)
        return workspace_files.open_below(root, target, flags, parents=parents, name=path)


def _launch(folder: Path, python: str, limits: Limits) -> ChildInit:
    program = folder / "init.pyc"
    program.write_bytes(compiled_init(str(program)))
    return ChildInit([python], str(program), folder / "messages", limits)


def _link_all(mounts: tuple[Mount, ...], workspace: Path) -> list[Mount]:
    """Puts what would be mounted into the workspace as links: there is nothing that could mount it.

    Returns:
        The mounts as they are then: writable if the user may write what the links lead to.
    """
    found = []
    for mount in mounts:
        place, source = _place(mount, workspace), mount.source.absolute()
        _make_room(place)
        if not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(source)
        found.append(Mount(source=source, target=str(place), writable=os.access(source, os.W_OK)))
    return found


def _make_room(place: Path) -> None:
    """Removes what is in the place of a link: an older one, or something empty; not what a program has put there."""
    if place.is_symlink() or (place.is_file() and place.stat().st_size == 0):
        place.unlink()
    elif place.is_dir() and not any(place.iterdir()):
        place.rmdir()


def _place(mount: Mount, workspace: Path) -> Path:
    target = Path(mount.target)
    if not target.is_relative_to(HOME):
        raise PodiumError(f"without a sandbox nothing can be shown at {target}, only below {HOME}")
    return workspace / target.relative_to(HOME)


def _sources(mounts: tuple[Mount, ...], *, writable: bool | None = None) -> list[Path]:
    return [mount.source.resolve() for mount in mounts if writable in (None, mount.writable)]


def _user_name() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # a user of a container, perhaps
        return str(os.getuid())
