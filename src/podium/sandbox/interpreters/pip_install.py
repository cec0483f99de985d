"""Installation of packages for programs in sandboxes, with the pip that Podium itself runs with."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from podium.errors import PodiumError

_NOISE = re.compile(r"WARNING|npm error( {2,}|$| }| A complete log)")
"""Lines of pip and npm that come with a failure and do not explain it."""


def make_venv(folder: Path, python: str = sys.executable) -> list[str]:
    """Create an empty virtual environment; return the command that installs packages into it.

    Args:
        python: interpreter from which it is created.

    Raises:
        PodiumError: there is no pip, or the environment cannot be created.
    """
    if find_spec("pip") is None:
        raise PodiumError(f"pip is not installed in {sys.prefix}. Run: {sys.executable} -m ensurepip")
    call([python, "-m", "venv", "--without-pip", str(folder)])
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python"), "--disable-pip-version-check"]
    return [*pip, "install", "--quiet", "--only-binary=:all:"]


def call(command: Sequence[str]) -> str:
    """Run an installer and return its output.

    Raises:
        PodiumError: it failed; the message ends with its output.
    """
    # Packages on PYTHONPATH would count as installed.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        command, capture_output=True, text=True, stdin=subprocess.DEVNULL, env=environment, check=False
    )
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines()
        details = " ".join([line for line in lines if not _NOISE.match(line)][-6:])[-1500:]
        raise PodiumError(f"{' '.join(command[:4])} failed: {details or 'no output'}")
    return done.stdout
