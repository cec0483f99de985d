"""Loader for task files outside the source tree; error messages name the file and the line.

Files of one folder can share helpers: `from ._helpers import ...` imports `_helpers.py` next to the task file.
"""

from __future__ import annotations

import ast
import hashlib
import re
import sys
import traceback
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from podium.errors import UsageError
from podium.task import Leaderboard, Task

ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
"""Valid task ids, which are also folder names."""
RESERVED = ("forge-", "folder-", "obfuscated-")
"""Prefixes of ids that are reserved for generated tasks."""

FileStamp = tuple[int, int]
"""Modification time and size of a file, to detect changes."""
_imported: dict[Path, tuple[FileStamp, Task]] = {}


def find_task_files(folder: Path) -> list[Path]:
    """Return the task files of a folder: `my_task.py` or `my-task/task.py`; names with an underscore are skipped."""
    beside = [path for path in sorted(folder.glob("*.py")) if not path.name.startswith("_")]
    below = [path for path in sorted(folder.glob("*/task.py")) if not path.parent.name.startswith((".", "_"))]
    return beside + below


def stamp_of(path: Path) -> FileStamp:
    """Return the stamp of a file."""
    status = path.stat()
    return status.st_mtime_ns, status.st_size


def load_task_file(path: Path) -> Task:
    """Load the task that a file defines, with its brief.

    Raises:
        UsageError: The file cannot be imported or defines no valid task; the message names the line.
    """
    stamp = stamp_of(path)
    known = _imported.get(path)
    if known is None or known[0] != stamp:
        task = getattr(_import(path), "task", None)
        if not isinstance(task, Task):
            raise UsageError(
                f"{path} does not define a task. Add `task = competition(...)`, or rename the file to _{path.name} if "
                "other task files import it."
            )
        _check(path, task)
        known = _imported[path] = (stamp, _with_brief(path, task))
    return known[1]


def line_of_task(path: Path) -> str:
    """Return a file and the line that defines its task, for messages."""
    for statement in ast.parse(path.read_bytes()).body:
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == "task" for target in targets):
            return f"{path}:{statement.lineno}"
    return str(path)


def _import(path: Path) -> ModuleType:
    package = f"_podium_tasks_{hashlib.sha256(str(path.parent).encode()).hexdigest()[:12]}"
    if package not in sys.modules:
        sys.modules[package] = ModuleType(package)
        sys.modules[package].__path__ = [str(path.parent)]
    name = f"{package}.{path.stem}"
    spec = spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None, "a file whose name ends in .py has a loader"
    module = sys.modules[name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        reason = f"{type(error).__name__}: {error}"
        raise UsageError(f"{path}{_line(path, error)}: the task file cannot be imported. {reason}") from error
    return module


def _line(path: Path, error: Exception) -> str:
    """Return the line of a file that raised an error, as `:LINE`."""
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return f":{error.lineno}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    return f":{lines[-1]}" if lines else ""


def _check(path: Path, task: Task) -> None:
    if not ID.fullmatch(task.id) or task.id.startswith(RESERVED):
        raise UsageError(
            f"{line_of_task(path)}: '{task.id}' is not a valid task id. Use letters, digits, '-', '_' and '.', "
            f"and do not begin with {' or '.join(RESERVED)}."
        )
    for name in task.editions:
        edition = task.in_edition(name)
        board, metric = edition.reference, edition.metric
        if isinstance(board, Leaderboard) and board.lower_is_better == metric.higher_is_better:
            raise UsageError(
                f"{line_of_task(path)}: the leaderboard says lower_is_better={board.lower_is_better}, but the metric "
                f"{metric.name} is better when {'higher' if metric.higher_is_better else 'lower'}."
            )


def _with_brief(path: Path, task: Task) -> Task:
    stems = [path.stem, task.id]
    if len(find_task_files(path.parent)) == 1:
        stems.append("brief")
    brief = _first_text([path.with_name(f"{stem}.md") for stem in stems]) or task.brief
    if not brief:
        raise UsageError(
            f"{path} has no brief. Write the task description for agents to {path.with_name(f'{stems[-1]}.md')}."
        )
    return task.with_brief(brief, _first_text([path.with_name(f"{stem}.fixed.md") for stem in stems]))


def _first_text(paths: list[Path]) -> str:
    found = next((path for path in paths if path.is_file()), None)
    return found.read_text(encoding="utf-8") if found else ""
