"""Executes a page of the documentation: its files are written, its commands run, its output is compared.

A block of code says by its first line what it is:

- ```bash: commands that succeed
- ```python: a script that succeeds
- ```python title="tasks/orchard.py", and any other language with a title: the content of a file
- ```text after commands: each line is part of a line that they printed

A comment right before a block says what is different about it: `<!-- fails -->` that the commands do not succeed,
`<!-- not executed: REASON -->` that it is only for reading.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_BLOCK = re.compile(r'^(?:<!-- ([^\n]+?) -->\n)?```(\w+)(?: title="(\S+)")?\n(.*?)^```$', re.M | re.S)


@dataclass(frozen=True)
class Block:
    """A block of code of a page."""

    mark: str
    """The comment before it, if there is one."""
    language: str
    title: str
    text: str

    @property
    def is_skipped(self) -> bool:
        return self.mark.startswith("not executed: ")


def blocks(page: Path) -> list[Block]:
    """The blocks of a page, in their order."""
    return [Block(*found) for found in _BLOCK.findall(page.read_text(encoding="utf-8"))]


def run_tutorial(page: Path, folder: Path, variables: Mapping[str, str] | None = None) -> int:
    """Follows a page in an empty folder and says how many blocks of it were executed or compared.

    Args:
        variables: further environment variables, such as where models are served.
    """
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PODIUM_HOME": str(folder / "home"),
        **(variables or {}),
    }
    printed, wanted = "", [block for block in blocks(page) if not block.is_skipped]
    for block in wanted:
        match block.language, block.title:
            case "bash", "":
                printed = _run(["bash", "-e", "-c", block.text], folder, environment, fails=block.mark == "fails")
            case "python", "":
                printed = _run([sys.executable, "-c", block.text], folder, environment)
            case "text", "":
                for line in filter(None, block.text.splitlines()):
                    assert line in printed, f"{page.name} promises {line!r}, but there is only:\n{printed}"
            case language, "":
                raise AssertionError(f"{page.name}: nothing executes a block of {language}: {block.text}")
            case _, name:
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_text(block.text, encoding="utf-8")
    return len(wanted)


def _run(command: list[str], folder: Path, environment: dict[str, str], *, fails: bool = False) -> str:
    done = subprocess.run(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert (done.returncode != 0) == fails, f"{command[-1]}\n{done.stdout}"
    return done.stdout
