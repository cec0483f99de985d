"""What is compared: the scripts of runs, and notebooks or scripts in a folder. All of it is hostile input."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from podium.data.inside import read_regular
from podium.errors import UsageError
from podium.integrity.code import source_of
from podium.integrity.evidence import read_evidence
from podium.runs.folder import RunFolder

SCRIPT, NOTEBOOK = ".py", ".ipynb"
LARGEST_BYTES = 16 << 20
"""Of a file that is read; notebooks carry their pictures."""
MOST_SCRIPTS = 20
"""Of a run, the newest first: a long search writes thousands that differ in a line."""
MOST_FILES = 5_000
"""Of a folder."""


@dataclass(frozen=True)
class Document:
    """A script, or the code of a notebook."""

    author: str
    """The run or the notebook it belongs to; what one author wrote is not compared with itself."""
    name: str
    """The file, with the step where it is a run's."""
    source: str


@dataclass(frozen=True)
class RunScripts:
    """The scripts of a run."""

    task: str
    documents: tuple[Document, ...]
    """Those that the agent wrote or changed."""
    given: tuple[str, ...]
    """The source of those that were in the workspace at the start."""


def read_folder(folder: Path) -> list[Document]:
    """The scripts and notebooks below a folder, or one of them; each is an author of its own.

    Raises:
        UsageError: there are none.
    """
    if not folder.exists():
        raise UsageError(f"{folder} is not there. Give a folder with scripts (.py) or notebooks (.ipynb).")
    files = [folder] if folder.is_file() else list(_files_below(folder))
    found = []
    for path in files:
        try:
            data = read_regular(path, LARGEST_BYTES)
        except OSError:  # a link, a pipe or a picture book: not what was asked for
            continue
        name = path.relative_to(folder).as_posix() if path != folder else path.name
        found.append(Document(author=name, name=name, source=source_of(name, data.decode("utf-8", "replace"))))
    if not found:
        raise UsageError(f"{folder} holds no script (.py) and no notebook (.ipynb).")
    return found


def _files_below(folder: Path) -> Iterator[Path]:
    count = 0
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            if name.endswith((SCRIPT, NOTEBOOK)) and count < MOST_FILES:
                count += 1
                yield Path(place) / name


def read_run(run: RunFolder, name: str) -> RunScripts:
    """The newest scripts that a run wrote, from its snapshots."""
    evidence = read_evidence(run)
    newest = {each.code.source: each for each in evidence.programs if each.file}
    documents = [
        Document(author=name, name=f"{each.file} after step {each.step}", source=source)
        for source, each in list(newest.items())[: -MOST_SCRIPTS - 1 : -1]
    ]
    scripts = {path: blob for path, blob in evidence.given.items() if path.endswith((SCRIPT, NOTEBOOK))}
    given = [source_of(path, evidence.read(blob) or "") for path, blob in scripts.items()]
    return RunScripts(evidence.task, tuple(documents), tuple(given))
