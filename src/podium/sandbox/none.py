"""No sandbox: programs run as child processes of this user, in the workspace folder. Used only when named explicitly.

They are killed as a group and checked against their limits like all others, but can see and do anything the user can.
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
from podium.sandbox.linux.mounts import View, login_environment, own_python
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
_MAX_PATH_BYTES = 4095


class NoSandbox:
    """Backend without isolation."""

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
            raise PodiumError(
                "Without a sandbox, programs can reach every host. Restricting them to a list of hosts needs a sealed "
                "sandbox, such as --sandbox bubblewrap."
            )
        find_interpreter(spec.env)
        for mount in spec.mounts:
            _link_path(mount, Path(HOME))

    def open(self, spec: SandboxSpec) -> SupervisedSandbox:
        self.check(spec)
        with workspace_of(spec) as workspace:
            home = workspace.resolve()
            mounts = (Mount(source=home, target=str(home), writable=True), *_link_all(spec.mounts, home))
            user = _user_name()
            path = search_path(find_interpreter(spec.env).prefix)
            environment = login_environment(path, home=str(home), user=user)
            view = View(mounts, {}, {**environment, **spec.environment}, str(own_python()))
            setup = Setup(
                backend=self.name,
                engine="",
                sealed=False,
                home=str(home),
                workspace=workspace,
                spec=spec,
                view=view,
                enforcement=_ENFORCEMENT,
                network=True,
            )
            launch = partial(_launch, python=view.python, limits=spec.limits.effective())
            return UnsealedSandbox(setup, launch, read_only=_sources(spec.mounts, writable=False))


class UnsealedSandbox(SupervisedSandbox):
    """Open sandbox without isolation. This process opens the files; links in the workspace cannot lead it astray."""

    def __init__(self, setup: Setup, launch: Callable[[Path], ChildInit], *, read_only: list[Path]) -> None:
        self._read_only = read_only
        super().__init__(setup, launch)

    def open(self, path: str, flags: int = os.O_RDONLY, *, parents: bool = False) -> int:
        """Return a descriptor of a file. Links in the workspace may lead to mounts, but nowhere else outside.

        Raises:
            OSError: as for `os.open`.
        """
        if not self.is_running:
            raise self._control.gone()
        absolute = self._inside(path)
        if "\0" in path:
            raise OSError(errno.EINVAL, "embedded null byte", path)
        if len(os.fsencode(absolute)) > _MAX_PATH_BYTES:
            raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG), path)
        is_named_outside = not Path(os.path.normpath(absolute)).is_relative_to(self.home)
        target = Path(os.path.realpath(absolute))
        writes = flags & (os.O_WRONLY | os.O_RDWR)
        if writes and any(target.is_relative_to(source) for source in self._read_only):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)
        roots = [Path("/")] if is_named_outside else [Path(self.home), *_sources(self._setup.view.mounts)]
        root = next((root for root in roots if target.is_relative_to(root)), None)
        if root is None:
            raise PermissionError(errno.EACCES, "leads out of the workspace", path)
        return workspace_files.open_below(root, target, flags, parents=parents, name=path)


def _launch(folder: Path, python: str, limits: Limits) -> ChildInit:
    program = folder / "init.pyc"
    program.write_bytes(compiled_init(str(program)))
    return ChildInit([python], str(program), folder / "messages", limits)


def _link_all(mounts: tuple[Mount, ...], workspace: Path) -> list[Mount]:
    """Create links in the workspace instead of mounts, which need a sealed sandbox.

    Returns:
        The resulting mounts: writable if the user may write to the target of the link.
    """
    links = []
    for mount in mounts:
        path, source = _link_path(mount, workspace), mount.source.absolute()
        _make_room(path)
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.symlink_to(source)
        links.append(Mount(source=source, target=str(path), writable=os.access(source, os.W_OK)))
    return links


def _make_room(path: Path) -> None:
    """Remove an older link, or something empty, from the path of a link; keep content that a program put there."""
    if path.is_symlink() or (path.is_file() and path.stat().st_size == 0):
        path.unlink()
    elif path.is_dir() and not any(path.iterdir()):
        path.rmdir()


def _link_path(mount: Mount, workspace: Path) -> Path:
    target = Path(mount.target)
    if not target.is_relative_to(HOME):
        raise PodiumError(f"Without a sandbox, mounts must be below {HOME}; {target} is not. Use: --sandbox bubblewrap")
    return workspace / target.relative_to(HOME)


def _sources(mounts: tuple[Mount, ...], *, writable: bool | None = None) -> list[Path]:
    return [mount.source.resolve() for mount in mounts if writable in (None, mount.writable)]


def _user_name() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # possibly a user of a container
        return str(os.getuid())
