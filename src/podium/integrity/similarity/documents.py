"""What is compared: the scripts of runs, and notebooks or scripts in a folder. All of it is hostile input."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podium.data.inside import read_regular
from podium.errors import UsageError

if TYPE_CHECKING:
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


def notebook_source(text: str) -> str:
    """The code cells of a notebook as a script; lines for the shell and magic commands become comments."""
    try:
        notebook = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list):
        return ""
    code = [_cell_text(cell) for cell in cells if isinstance(cell, dict) and cell.get("cell_type") == "code"]
    return "\n".join(_commented(line) for line in "\n".join(code).splitlines())


def _cell_text(cell: dict[str, Any]) -> str:
    source = cell.get("source")
    parts = source if isinstance(source, list) else [source]
    return "".join(part for part in parts if isinstance(part, str))


def _commented(line: str) -> str:
    return f"# {line}" if line.lstrip().startswith(("!", "%")) else line


def source_of(name: str, data: bytes) -> str:
    """The Python source of a script or a notebook."""
    text = data.decode("utf-8", "replace")
    return notebook_source(text) if name.endswith(NOTEBOOK) else text


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
        found.append(Document(author=name, name=name, source=source_of(name, data)))
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
    from podium.workspace.events import Step

    journal, history = run.read_journal(), run.read_history()
    start = _scripts(history.contents(journal.start.snapshot))
    newest: dict[str, tuple[str, int]] = {}
    steps = [line.event for line in journal.lines() if isinstance(line.event, Step)]
    snapshot_before = None
    for number in range(len(steps), 0, -1):
        snapshot = steps[number - 1].snapshot
        if snapshot == snapshot_before or len(newest) >= MOST_SCRIPTS:
            continue
        snapshot_before = snapshot
        for path, identity in _scripts(history.contents(snapshot)).items():
            if identity not in start.values():
                newest.setdefault(identity, (path, number))
    documents = [
        Document(author=name, name=f"{path} after step {number}", source=source_of(path, history.get(identity)))
        for identity, (path, number) in list(newest.items())[:MOST_SCRIPTS]
    ]
    given = [source_of(path, history.get(identity)) for path, identity in start.items()]
    return RunScripts(journal.start.task, tuple(documents), tuple(given))


def _scripts(contents: dict[str, str]) -> dict[str, str]:
    return {path: identity for path, identity in contents.items() if path.endswith((SCRIPT, NOTEBOOK))}
