"""Unique names of classes, type aliases and shared constants."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import podium

SOURCE = Path(podium.__file__).parent
INSIDE = ("catalog/research", "catalog/kaggle")
"""Starter code and single tasks, which are separate programs."""
OTHERS = {"PodiumEnv"}
"""Names prescribed by conventions of other projects."""
ALIAS = re.compile(r"[A-Z]\w*[a-z]\w*")


@cache
def modules() -> dict[str, ast.Module]:
    names = {path: path.relative_to(SOURCE).as_posix() for path in sorted(SOURCE.rglob("*.py"))}
    return {
        name: ast.parse(path.read_text(encoding="utf-8")) for path, name in names.items() if not name.startswith(INSIDE)
    }


def dotted(file: str) -> str:
    return f"podium/{file}".removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def classes(module: ast.Module) -> Iterator[str]:
    return (node.name for node in module.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_"))


def aliases(module: ast.Module) -> Iterator[str]:
    """Yield type aliases such as `Folds = list[int]` and `type Folds = list[int]`, but no type variables."""
    for node in module.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if not isinstance(value, ast.Call):
                yield from [name] if ALIAS.fullmatch(name) else []
            case _ if type(node).__name__ == "TypeAlias":  # of Python 3.12 and later
                yield node.name.id  # type: ignore[attr-defined]


def assigned(module: ast.Module) -> set[str]:
    names = (name for node in module.body if isinstance(node, ast.Assign | ast.AnnAssign) for name in ast.walk(node))
    return {name.id for name in names if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)}


def test_classes_and_aliases_have_unique_names() -> None:
    definitions = defaultdict(list)
    for file, module in modules().items():
        for name in (*classes(module), *aliases(module)):
            definitions[name].append(file)
    assert {name: files for name, files in definitions.items() if len(files) > 1 and name not in OTHERS} == {}


def test_shared_constants_have_unique_names() -> None:
    by_name = {dotted(file): module for file, module in modules().items()}
    own = {name: assigned(module) for name, module in by_name.items()}
    origins = defaultdict(set)
    for module in by_name.values():
        for node in ast.walk(module):
            if isinstance(node, ast.ImportFrom) and node.module in own:
                for name in (alias.name for alias in node.names if alias.name.isupper()):
                    if name in own[node.module]:  # and not only re-exported by a package
                        origins[name].add(node.module)
    origins.pop("HERE", None)  # the folder of a module
    assert {name: files for name, files in origins.items() if len(files) > 1} == {}
