"""Documents to compare: scripts of runs, and notebooks or scripts in a folder. All of it is hostile input."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from podium.errors import UsageError
from podium.integrity.python_code import source_of
from podium.integrity.scan_evidence import RunEvidence
from podium.safefs.open_nofollow import read_regular

SCRIPTS = (".py", ".ipynb")
MAX_BYTES = 16 << 20
"""Largest size of a file that is read; notebooks may contain pictures."""
MAX_SCRIPTS = 20
"""Largest number of scripts of a run, the newest first: a long search writes thousands of near copies."""
MAX_FILES = 5_000
"""Largest number of files of a folder."""


class Document(NamedTuple):
    """Script, or the code of a notebook."""

    author: str
    """Run or notebook it belongs to; documents of one author are not compared with each other."""
    name: str
    """File name, with the step for a script of a run."""
    source: str


def read_folder(folder: Path) -> list[Document]:
    """Return the scripts and notebooks below a folder, or a single one; each has its own author.

    Raises:
        UsageError: if there are none.
    """
    if not folder.exists():
        raise UsageError(f"{folder} does not exist. Name a folder with scripts (.py) or notebooks (.ipynb).")
    below = (Path(place, name) for place, _, names in os.walk(folder) for name in names if name.endswith(SCRIPTS))
    found = []
    for path in [folder] if folder.is_file() else sorted(islice(below, MAX_FILES)):
        try:
            text = read_regular(path, MAX_BYTES).decode("utf-8", "replace")
        except OSError:  # a link, a pipe or too large
            continue
        name = path.relative_to(folder).as_posix() if path != folder else path.name
        found.append(Document(author=name, name=name, source=source_of(name, text)))
    if not found:
        raise UsageError(f"{folder} contains no script (.py) and no notebook (.ipynb).")
    return found


def scripts_of(run: RunEvidence, name: str) -> list[Document]:
    """Return the newest scripts that a run wrote or changed, from its snapshots."""
    newest = {each.code.source: each for each in run.programs if each.file}
    return [
        Document(author=name, name=f"{each.file} after step {each.step}", source=source)
        for source, each in list(newest.items())[: -MAX_SCRIPTS - 1 : -1]
    ]


def initial_sources(run: RunEvidence) -> list[str]:
    """Return the source of the scripts that were in the workspace at the start."""
    scripts = {path: blob for path, blob in run.initial_files.items() if path.endswith(SCRIPTS)}
    return [source_of(path, run.read(blob) or "") for path, blob in scripts.items()]
