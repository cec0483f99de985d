"""Executes a page of the documentation: its files are written, its commands run, its output is compared.

A block of code says by its first line what it is:

- ```bash: commands that succeed; ```bash fails: that do not
- ```python: a script that succeeds
- ```python tasks/orchard.py, ```markdown ..., ```text ..., ```toml ...: the content of a file
- ```text after commands: each line is part of a line that they printed
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

_BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.M | re.S)


def run_tutorial(page: Path, folder: Path) -> int:
    """Follows a page in an empty folder and says how many blocks of it were executed or compared."""
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PODIUM_HOME": str(folder / "home"),
    }
    printed, blocks = "", _BLOCK.findall(page.read_text(encoding="utf-8"))
    for kind, rest, text in blocks:
        match kind, rest:
            case "bash", _:
                printed = _run(["bash", "-e", "-c", text], folder, environment, fails=rest == "fails")
            case "python", "":
                printed = _run([sys.executable, "-c", text], folder, environment)
            case "text", "":
                for line in filter(None, text.splitlines()):
                    assert line in printed, f"{page.name} promises {line!r}, but there is only:\n{printed}"
            case _, name:
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_text(text, encoding="utf-8")
    return len(blocks)


def _run(command: list[str], folder: Path, environment: dict[str, str], *, fails: bool = False) -> str:
    done = subprocess.run(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert (done.returncode != 0) == fails, f"{command[-1]}\n{done.stdout}"
    return done.stdout
