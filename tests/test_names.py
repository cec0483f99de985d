"""One word, one meaning: a class, an alias of a type and a constant that modules share have a name of their own."""

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
"""Starter code and single tasks: programs of their own."""
OTHERS = {"PodiumEnv"}
"""What other projects' conventions call the environment of a package."""
ALIAS = re.compile(r"[A-Z]\w*[a-z]\w*")


@cache
def modules() -> dict[str, ast.Module]:
    names = {path: path.relative_to(SOURCE).as_posix() for path in sorted(SOURCE.rglob("*.py"))}
    return {
        name: ast.parse(path.read_text(encoding="utf-8")) for path, name in names.items() if not name.startswith(INSIDE)
    }


def dotted(place: str) -> str:
    return f"podium/{place}".removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def classes(module: ast.Module) -> Iterator[str]:
    return (node.name for node in module.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_"))


def aliases(module: ast.Module) -> Iterator[str]:
    """Names such as `Folds = list[int]` and `type Folds = list[int]`; a type variable is a call."""
    for node in module.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if not isinstance(value, ast.Call):
                yield from [name] if ALIAS.fullmatch(name) else []
            case _ if type(node).__name__ == "TypeAlias":  # of Python 3.12 and later
                yield node.name.id  # type: ignore[attr-defined]


def assigned(module: ast.Module) -> set[str]:
    names = (name for node in module.body if isinstance(node, ast.Assign | ast.AnnAssign) for name in ast.walk(node))
    return {name.id for name in names if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)}


def test_no_two_classes_or_aliases_have_the_same_name() -> None:
    places = defaultdict(list)
    for place, module in modules().items():
        for name in (*classes(module), *aliases(module)):
            places[name].append(place)
    assert {name: found for name, found in places.items() if len(found) > 1 and name not in OTHERS} == {}


def test_no_two_constants_that_modules_import_have_the_same_name() -> None:
    found = {dotted(place): module for place, module in modules().items()}
    own = {name: assigned(module) for name, module in found.items()}
    origins = defaultdict(set)
    for module in found.values():
        for node in ast.walk(module):
            if isinstance(node, ast.ImportFrom) and node.module in own:
                for name in (alias.name for alias in node.names if alias.name.isupper()):
                    if name in own[node.module]:  # and is not only handed on by a package
                        origins[name].add(node.module)
    origins.pop("HERE", None)  # the folder of a module, whichever that is
    assert {name: places for name, places in origins.items() if len(places) > 1} == {}
