"""Python interpreters for programs that require another version than Podium's."""

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
    """Python interpreter of this machine."""

    executable: str
    version: str
    """Full version, such as 3.12.1."""


def choose_python(name: str, wanted: str | None, given: Path | None) -> Python:
    """Return the interpreter for a program: the one specified by the user, or one found on this machine.

    Args:
        name: name of the agent, for messages.
        wanted: required version, such as 3.12; None means any.

    Raises:
        UsageError: there is no interpreter of this version.
    """
    if given is None:
        found = find_python(wanted)
        if found is None:
            raise UsageError(f"{name} cannot be installed: {missing_python_message(name, wanted)}")
        return found
    asked = _ask(given)
    if asked is None:
        raise UsageError(f"--python {given} is not a working Python interpreter.")
    if wanted is not None and not asked.version.startswith(f"{wanted}."):
        raise UsageError(f"--python {given} is Python {asked.version}, but {name} requires Python {wanted}.")
    return asked


def find_python(wanted: str | None) -> Python | None:
    """Return an interpreter of a version such as 3.12, preferably the one that runs Podium, or None."""
    running = Python(sys.executable, ".".join(map(str, sys.version_info[:3])))
    if wanted is None or running.version.startswith(f"{wanted}."):
        return running
    answers = (_ask(place) for place in _places(wanted))
    return next((found for found in answers if found and found.version.startswith(f"{wanted}.")), None)


def missing_python_message(name: str, wanted: str | None) -> str:
    """Return the message for a missing interpreter."""
    command = f"podium agents install {name} --python /path/to/python{wanted}"
    return f"it requires Python {wanted}, which was not found. Install Python {wanted}, or run: {command}"


def _places(wanted: str) -> Iterator[Path]:
    """Yield paths where PATH, pyenv and uv may have an interpreter of a version."""
    for folder in os.get_exec_path():
        yield Path(folder, f"python{wanted}")
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from sorted(pyenv.glob(f"versions/{wanted}.*/bin/python{wanted}"), reverse=True)
    data = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    yield from sorted(data.glob(f"uv/python/cpython-{wanted}.*/bin/python{wanted}"), reverse=True)


def _ask(python: Path) -> Python | None:
    """Start an interpreter to get its version. A file of this name may be a pyenv shim without such a Python."""
    if not os.access(python, os.X_OK) or not python.is_file():
        return None
    try:
        command = [str(python), "-I", "-c", _SAY]
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=30, check=True)
        executable, version = done.stdout.rsplit(maxsplit=1)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return Python(executable, version)
