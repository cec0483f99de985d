"""The agent's Python: any environment of the host, seen inside read-only and without Podium in it.

Podium itself is hidden because whoever can import it can generate a forged task again, answers included.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from podium.errors import UsageError
from podium.sandbox.policy import Mount

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
        folders = [self.prefix, *_homes(self.executable)]
        outside = [folder for folder in dict.fromkeys(folders) if not folder.is_relative_to("/usr")]
        return tuple(Mount(source=folder, target=str(folder)) for folder in outside)

    def hidden(self) -> tuple[str, ...]:
        """Every trace of Podium in those folders."""
        folders = [self.prefix, *_homes(self.executable)]
        found = {
            str(path)
            for folder in folders
            for packages in ("site-packages", "dist-packages")
            for pattern in ("podium", "podium-*", "*_podium.pth", "__editable__*podium*")
            for path in folder.glob(f"lib/python*/{packages}/{pattern}")
        }
        return tuple(sorted(found))


def find_interpreter(place: str | Path | None) -> Interpreter:
    """The environment at a place (its folder or its python), by default the one Podium runs in.

    Raises:
        UsageError: there is no Python at that place.
    """
    if place is None:
        return Interpreter(Path(sys.prefix))
    folder = Path(place).expanduser().absolute()
    if folder.is_file():
        folder = folder.parent.parent
    if not (folder / "bin" / "python").exists():
        raise UsageError(
            f"--env {place}: there is no Python environment ({folder / 'bin' / 'python'} is missing). "
            "Give the folder of a virtual or conda environment, for example: python -m venv ENV"
        )
    return Interpreter(folder)


def _homes(executable: Path) -> list[Path]:
    """The installations behind an environment's python, along its links."""
    homes = []
    link = executable
    while link.is_symlink():
        link = link.parent / link.readlink()
        homes.append(link.parent.parent)
    # The folders above may themselves be reached through links: both names have to exist inside.
    return list(dict.fromkeys([*homes, executable.resolve().parent.parent]))
