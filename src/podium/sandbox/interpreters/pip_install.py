"""Installs packages for programs in sandboxes, by the pip that Podium itself runs with."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from podium.errors import PodiumError

_BESIDE_THE_POINT = re.compile(r"WARNING|npm error( {2,}|$| }| A complete log)")
"""Lines of pip and npm that come with a failure and do not say what it is."""


def make_venv(folder: Path, python: str = sys.executable) -> list[str]:
    """Makes an empty virtual environment; gives the command that installs packages into it.

    Args:
        python: the interpreter it is made from.

    Raises:
        PodiumError: there is no pip, or the environment cannot be made.
    """
    if find_spec("pip") is None:
        raise PodiumError(f"pip is not installed in {sys.prefix}. Run: {sys.executable} -m ensurepip")
    call([python, "-m", "venv", "--without-pip", str(folder)])
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python"), "--disable-pip-version-check"]
    return [*pip, "install", "--quiet", "--only-binary=:all:"]


def call(command: Sequence[str]) -> str:
    """What an installer prints.

    Raises:
        PodiumError: it failed; says its last words.
    """
    # What PYTHONPATH shows would be taken for installed.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        command, capture_output=True, text=True, stdin=subprocess.DEVNULL, env=environment, check=False
    )
    if done.returncode:
        said = [line for line in (done.stderr or done.stdout).strip().splitlines() if not _BESIDE_THE_POINT.match(line)]
        raise PodiumError(f"{' '.join(command[:4])} failed: {' '.join(said[-6:])[-1500:] or 'it says nothing'}")
    return done.stdout
