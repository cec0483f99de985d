"""Finds a Python for programs that do not take the one Podium runs on."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from podium.errors import UsageError

_SAY = "import sys; print(sys.executable, '.'.join(map(str, sys.version_info[:3])))"


class Python(NamedTuple):
    """An interpreter of this machine."""

    executable: str
    version: str
    """As 3.12.1."""


def choose_python(name: str, wanted: str | None, given: Path | None) -> Python:
    """The interpreter for a program: the one that a user has given, or one that is found.

    Args:
        name: of the agent, for messages.
        wanted: the only version that takes the program, as 3.12; None: any.

    Raises:
        UsageError: there is none of this version.
    """
    if given is None:
        found = find_python(wanted)
        if found is None:
            raise UsageError(f"{name} cannot be installed: {missing_python(name, wanted)}")
        return found
    asked = _ask(given)
    if asked is None:
        raise UsageError(f"--python {given}: this is not a Python that can be started")
    if wanted is not None and not asked.version.startswith(f"{wanted}."):
        raise UsageError(f"--python {given}: this is Python {asked.version}, and {name} needs {wanted}")
    return asked


def find_python(wanted: str | None) -> Python | None:
    """An interpreter of a version such as 3.12; the one Podium runs on if that is one, or if any will do."""
    running = Python(sys.executable, ".".join(map(str, sys.version_info[:3])))
    if wanted is None or running.version.startswith(f"{wanted}."):
        return running
    answers = (_ask(place) for place in _places(wanted))
    return next((found for found in answers if found and found.version.startswith(f"{wanted}.")), None)


def missing_python(name: str, wanted: str | None) -> str:
    """What to say where there is no interpreter of a version."""
    how = f"podium agents install {name} --python /path/to/python{wanted}"
    return f"it needs Python {wanted}, which is not found here. Install Python {wanted} or name one: {how}"


def _places(wanted: str) -> Iterator[Path]:
    """Where the PATH, pyenv and uv have interpreters of a version."""
    for folder in os.get_exec_path():
        yield Path(folder, f"python{wanted}")
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from sorted(pyenv.glob(f"versions/{wanted}.*/bin/python{wanted}"), reverse=True)
    data = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    yield from sorted(data.glob(f"uv/python/cpython-{wanted}.*/bin/python{wanted}"), reverse=True)


def _ask(python: Path) -> Python | None:
    """Starts it: a file of that name may be pyenv's, which knows of no such Python."""
    if not os.access(python, os.X_OK) or not python.is_file():
        return None
    try:
        command = [str(python), "-I", "-c", _SAY]
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=30, check=True)
        executable, version = done.stdout.rsplit(maxsplit=1)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return Python(executable, version)
