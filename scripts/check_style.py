"""Checks the shape of the tree and its names: `python scripts/check_style.py [PATH...]`.

- at most 12 modules in a folder of `src/podium`, and no two modules of one name;
- docstrings that start with a verb or a noun, and not with What, Whether, How, Of, Where or Who;
- bounds called MAX_ or MIN_, and not MOST_, FEWEST_ and the like.

`# style: allow` at the end of a line exempts it; for a docstring, the line it begins on or the line before it.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "podium"
MAX_MODULES = 12
CROWDED = ("metrics", "catalog/kaggle", "catalog/research", "catalog/forge/families")
"""Folders with one file per task, family or group of metrics; they may hold any number."""
SHARED_NAMES = ("catalog/kaggle", "catalog/research", "catalog/forge/families", "cli")
"""Folders whose files are named after a task, a family or a command, as other modules may be too."""
IN_SANDBOX = "inside"
"""Folders with programs that are copied into the sandbox."""
OPENING = re.compile(
    r"^(What|Whether|How|Of|Where|Who|Whoever|So many|So much|As many|As far|That|Those|These)\b(?!.*\?$)"
)
BOUND = re.compile(r"^_?(MOST|FEWEST|LEAST|FEW|MANY|LARGEST|SMALLEST|LONGEST|SHORTEST|ENOUGH|WIDE|NEAR)(_|$)")
ALLOWED = "# style: allow"


def is_starter_code(path: Path) -> bool:
    """Return whether a file belongs to the starter code of a research task."""
    return path.is_relative_to(SOURCE / "catalog" / "research") and path.parent != SOURCE / "catalog" / "research"


def modules() -> list[Path]:
    """Return the modules of the package, relative to it, without `__init__` files and starter code."""
    files = sorted(SOURCE.rglob("*.py"))
    return [path.relative_to(SOURCE) for path in files if path.stem[:2] != "__" and not is_starter_code(path)]


def crowded_folders() -> Iterator[str]:
    """Yield a message for each folder with too many modules."""
    for folder, count in Counter(path.parent for path in modules()).items():
        if count > MAX_MODULES and folder.as_posix() not in CROWDED:
            yield f"src/podium/{folder}: {count} modules; at most {MAX_MODULES} are allowed. Move some to a subfolder."


def shared_names() -> Iterator[str]:
    """Yield a message for each name that several modules bear."""
    owners = defaultdict(list)
    for path in modules():
        if not any(path.is_relative_to(folder) for folder in SHARED_NAMES) and IN_SANDBOX not in path.parts:
            owners[path.stem].append(path.as_posix())
    for name, paths in owners.items():
        if len(paths) > 1:
            yield f"{name}: {', '.join(paths)} bear one name. Give each the term a newcomer would search for."


def docstrings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of every docstring, those of constants and fields included."""
    for node in ast.walk(tree):
        for child in ast.iter_child_nodes(node):
            if (
                isinstance(child, ast.Expr)
                and isinstance(child.value, ast.Constant)
                and isinstance(child.value.value, str)
            ):
                yield child.lineno, child.value.value.strip()


def bound_names(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the line and the name of every constant named MOST, FEWEST and the like."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and BOUND.match(node.id):
            yield node.lineno, node.id


def wording(path: Path) -> Iterator[str]:
    """Yield a message for each docstring and constant of a file that breaks a rule."""
    text = path.read_text(encoding="utf-8")
    lines, tree = ["", *text.splitlines()], ast.parse(text)
    where = path.relative_to(ROOT)
    for number, docstring in docstrings(tree):
        if OPENING.match(docstring) and ALLOWED not in lines[number - 1] + lines[number]:
            first = docstring.splitlines()[0]
            yield f"{where}:{number}: start with a verb or the thing's noun: {first}"
    for number, name in bound_names(tree):
        if ALLOWED not in lines[number]:
            yield f"{where}:{number}: call the bound MAX_ or MIN_: {name}"


def python_files(paths: Iterable[Path]) -> list[Path]:
    """Return the Python files below some paths that the wording rules apply to."""
    files = {file for path in paths for file in ([path] if path.is_file() else path.rglob("*.py"))}
    return [file for file in sorted(files) if not is_starter_code(file)]


def main(arguments: list[str]) -> int:
    """Print all faults, and return the exit code."""
    paths = [Path(argument).resolve() for argument in arguments]
    faults = [fault for file in python_files(paths or [SOURCE]) for fault in wording(file)]
    if not paths:
        faults = [*crowded_folders(), *shared_names(), *faults]
    for fault in faults:
        print(fault)
    return min(len(faults), 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
