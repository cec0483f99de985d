"""Script writer: a docstring, the required definitions of the kit, and the body from a recipe."""

from __future__ import annotations

import ast
import builtins
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from symtable import symtable
from typing import Any

KIT = Path(__file__).with_name("kit")
_TABLES = Path(__file__).parents[1] / "tables"
KIT_FILES = (
    *(_TABLES / f"{name}.py" for name in ("script_settings", "dates", "packed_files", "table_io")),
    *sorted(KIT.glob("*/[!_]*.py")),
)
"""Modules whose definitions are copied into scripts."""
CLOCK = "STARTED"
"""Constant with the start time of a script; it precedes the imports of libraries."""
_HEADER = re.compile(r"^recipe: (\{.*\})$", re.MULTILINE)


@dataclass(frozen=True)
class Definition:
    """Definition in the kit: an import, a constant, a function or a class."""

    name: str
    source: str
    uses: frozenset[str]
    position: tuple[int, int]
    """Sort key: the rank of its module and its line."""
    is_import: bool = False
    is_constant: bool = False


@dataclass(frozen=True)
class Header:
    """Recipe and settings that a script was written with."""

    recipe: str
    settings: Mapping[str, Any]

    def __str__(self) -> str:
        return json.dumps({"recipe": self.recipe, "settings": dict(self.settings)}, sort_keys=True)


def write_script(title: str, body: str, *, recipe: str, settings: Mapping[str, Any] | None = None) -> str:
    """Return a self-contained script: the body, preceded by the definitions of the kit that it uses."""
    header = str(Header(recipe, settings or {}))
    needed = _needed(body)
    clock = [one.source for one in needed if one.name == CLOCK]
    imports = _joined_imports({one.source for one in needed if one.is_import}, clock)
    constants = [one.source for one in needed if one.is_constant and one.name != CLOCK]
    functions = [one.source for one in needed if not one.is_import and not one.is_constant]
    parts = [
        f'"""{_quoted(title)}\n\nrecipe: {_quoted(header)}\n"""',
        "\n".join(["from __future__ import annotations", "", *imports]),
        "\n".join(constants),
        "\n\n\n".join(functions),
        body.strip(),
    ]
    gaps = ["\n\n", "\n\n", "\n\n\n", "\n\n\n", "\n"]
    return "".join(part + gap for part, gap in zip(parts, gaps, strict=True) if part)


def read_header(script: str) -> Header | None:
    """Return the header of a script, or None if it was not written by a recipe or the header was changed."""
    match = _HEADER.search(script)
    try:
        found = None if match is None else json.loads(match[1].replace("\\\\", "\\"))
    except (ValueError, RecursionError):
        return None
    match found:
        case {"recipe": str(recipe), "settings": dict(settings), **others} if not others:
            return Header(recipe, settings)
    return None


def assign(**values: Any) -> str:
    """Return Python source that assigns values to names, one per line."""
    return "".join(f"{name} = {_literal(value)}\n" for name, value in values.items())


def keywords(options: Mapping[str, Any]) -> str:
    """Return options as source of keyword arguments, each preceded by a comma."""
    return "".join(f", {name}={value!r}" for name, value in options.items())


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"""', "'''")


def _literal(value: Any, width: int = 110) -> str:
    """Return a value as Python source, wrapped if long."""
    text = repr(list(value) if isinstance(value, tuple) else value)
    if len(text) <= width or not isinstance(value, list | tuple | dict):
        return text
    items = [f"{key!r}: {_literal(item)}" for key, item in value.items()] if isinstance(value, dict) else None
    lines = _wrapped([repr(item) for item in value] if items is None else items, width)
    return ("[\n" if items is None else "{\n") + lines + ("]" if items is None else "}")


def _wrapped(items: list[str], width: int) -> str:
    lines, line = "", "   "
    for item in items:
        if len(line) + len(item) + 2 > width and line.strip():
            lines, line = lines + line + "\n", "   "
        line += f" {item},"
    return lines + line + "\n"


def _needed(body: str) -> list[Definition]:
    """Return the definitions of the kit that a body uses, directly or indirectly, in order.

    Raises:
        ValueError: the body redefines a name that one of them needs.
    """
    kit = _kit()
    known = _bound(body)
    shadowed: set[str] = set()
    found: dict[str, Definition] = {}
    queue = sorted(_used(body))
    while queue:
        name = queue.pop()
        if name in found or name not in kit:
            continue
        found[name] = kit[name]
        queue += sorted(kit[name].uses)
        shadowed |= kit[name].uses & known & set(kit)
    if shadowed:
        raise ValueError(f"The body redefines names of the kit: {', '.join(sorted(shadowed))}.")
    return sorted(found.values(), key=lambda one: one.position)


@cache
def _kit() -> dict[str, Definition]:
    """Return all definitions of the kit by name.

    Raises:
        ValueError: a name has two definitions.
    """
    names: dict[str, Definition] = {}
    for rank, path in enumerate(KIT_FILES):
        for one in _definitions(path.read_text(encoding="utf-8"), rank):
            other = names.setdefault(one.name, one)
            if other.source != one.source:
                raise ValueError(f"The kit defines '{one.name}' twice; the second definition is in {path.name}.")
    return names


def _definitions(text: str, rank: int) -> Iterator[Definition]:
    lines = text.splitlines()
    for node in ast.parse(text).body:
        position = (rank, node.lineno)
        if isinstance(node, ast.Import | ast.ImportFrom):
            if not (isinstance(node, ast.ImportFrom) and (node.module or "").startswith(("podium", "__future__"))):
                yield from _imports(node, position)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
            source = "\n".join(lines[first - 1 : node.end_lineno])
            yield Definition(node.name, source, frozenset(_used(source)), position)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            source = "\n".join(lines[node.lineno - 1 : node.end_lineno])
            if isinstance(target, ast.Name):
                yield Definition(target.id, source, frozenset(_used(source)), position, is_constant=True)


def _imports(node: ast.Import | ast.ImportFrom, position: tuple[int, int]) -> Iterator[Definition]:
    for alias in node.names:
        single: ast.stmt = (
            ast.Import([alias]) if isinstance(node, ast.Import) else ast.ImportFrom(node.module, [alias], node.level)
        )
        name = alias.asname or alias.name.partition(".")[0]
        yield Definition(name, ast.unparse(single), frozenset(), position, is_import=True)


def _joined_imports(sources: set[str], clock: list[str]) -> list[str]:
    """Return import statements in order, one per module, with the clock before those of libraries."""
    names: dict[str, list[str]] = {}
    for source in sorted(sources):
        start, _, name = source.partition(" import ")
        names.setdefault(start, []).extend([name] if name else [])
    joined = [f"{start} import {', '.join(listed)}" if listed else start for start, listed in names.items()]
    ordered = sorted(joined, key=_import_order)
    ours = [line for line in ordered if _import_order(line)[0]]
    built_in = [line for line in ordered if line not in ours]
    return [*built_in, *(["", *clock] if clock else []), *([""] if ours else []), *ours]


def _import_order(source: str) -> tuple[bool, bool, str]:
    module = source.split()[1]
    return (
        module.partition(".")[0] in {"numpy", "pandas", "scipy", "sklearn", "PIL", "threadpoolctl"},
        source.startswith("from"),
        module,
    )


def _used(source: str) -> set[str]:
    """Return the names that some source uses without defining them, except local variables."""
    module = symtable(source, KIT.name, "exec")
    scopes = [module]
    for scope in scopes:
        scopes += scope.get_children()
    names = {symbol.get_name() for scope in scopes for symbol in scope.get_symbols() if symbol.is_global()}
    names |= {symbol.get_name() for symbol in module.get_symbols() if symbol.is_referenced()}
    return names - _bound(source) - set(dir(builtins))


def _bound(source: str) -> set[str]:
    """Return the names that some source defines at its top level."""
    symbols = symtable(source, KIT.name, "exec").get_symbols()
    return {symbol.get_name() for symbol in symbols if symbol.is_assigned() or symbol.is_imported()}
