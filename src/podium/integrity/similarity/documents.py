"""What is compared: the scripts of runs, and notebooks or scripts in a folder. All of it is hostile input."""

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
LARGEST_BYTES = 16 << 20
"""Of a file that is read; notebooks carry their pictures."""
MOST_SCRIPTS = 20
"""Of a run, the newest first: a long search writes thousands that differ in a line."""
MOST_FILES = 5_000
"""Of a folder."""


class Document(NamedTuple):
    """A script, or the code of a notebook."""

    author: str
    """The run or the notebook it belongs to; what one author wrote is not compared with itself."""
    name: str
    """The file, with the step where it is a run's."""
    source: str


def read_folder(folder: Path) -> list[Document]:
    """The scripts and notebooks below a folder, or one of them; each is an author of its own.

    Raises:
        UsageError: there are none.
    """
    if not folder.exists():
        raise UsageError(f"{folder} is not there. Give a folder with scripts (.py) or notebooks (.ipynb).")
    below = (Path(place, name) for place, _, names in os.walk(folder) for name in names if name.endswith(SCRIPTS))
    found = []
    for path in [folder] if folder.is_file() else sorted(islice(below, MOST_FILES)):
        try:
            text = read_regular(path, LARGEST_BYTES).decode("utf-8", "replace")
        except OSError:  # a link, a pipe or a picture book: not what was asked for
            continue
        name = path.relative_to(folder).as_posix() if path != folder else path.name
        found.append(Document(author=name, name=name, source=source_of(name, text)))
    if not found:
        raise UsageError(f"{folder} holds no script (.py) and no notebook (.ipynb).")
    return found


def scripts_of(run: RunEvidence, name: str) -> list[Document]:
    """The newest scripts that a run wrote or changed, from its snapshots."""
    newest = {each.code.source: each for each in run.programs if each.file}
    return [
        Document(author=name, name=f"{each.file} after step {each.step}", source=source)
        for source, each in list(newest.items())[: -MOST_SCRIPTS - 1 : -1]
    ]


def given_to(run: RunEvidence) -> list[str]:
    """The source of the scripts that were in the workspace at the start."""
    scripts = {path: blob for path, blob in run.given.items() if path.endswith(SCRIPTS)}
    return [source_of(path, run.read(blob) or "") for path, blob in scripts.items()]
