"""Puts scripts together: a docstring, the constants of a task, the functions of the kit that are used, a story."""

from __future__ import annotations

import ast
import builtins
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

KIT = Path(__file__).with_name("kit")
_HEADER = re.compile(r"^recipe: (\{.*\})$", re.MULTILINE)


@dataclass(frozen=True)
class Definition:
    """A name of the kit: an import, a constant, a function or a class."""

    name: str
    source: str
    uses: frozenset[str]
    place: tuple[int, int]
    """Rank of its module and line in it, by which definitions are put in order."""
    is_import: bool = False
    is_constant: bool = False


@dataclass(frozen=True)
class Header:
    """What a script says about its making."""

    recipe: str
    settings: Mapping[str, Any]


def write_script(title: str, story: str, *, recipe: str, settings: Mapping[str, Any] | None = None) -> str:
    """A script that stands alone: the story, with everything of the kit that it uses put before it."""
    header = json.dumps({"recipe": recipe, "settings": dict(settings or {})}, sort_keys=True)
    needed = _needed(story)
    imports = _joined_imports({one.source for one in needed if one.is_import})
    constants = [one.source for one in needed if one.is_constant]
    functions = [one.source for one in needed if not one.is_import and not one.is_constant]
    parts = [
        f'"""{_quoted(title)}\n\nrecipe: {_quoted(header)}\n"""',
        "\n".join(["from __future__ import annotations", "", *imports]),
        "\n".join(constants),
        "\n\n\n".join(functions),
        story.strip(),
    ]
    gaps = ["\n\n", "\n\n", "\n\n\n", "\n\n\n", "\n"]
    return "".join(part + gap for part, gap in zip(parts, gaps, strict=True) if part)


def read_header(script: str) -> Header | None:
    """What a script says about its making; None if it was not written here."""
    found = _HEADER.search(script)
    if found is None:
        return None
    document = json.loads(found[1].replace("\\\\", "\\"))
    return Header(document["recipe"], document["settings"])


def assign(**values: Any) -> str:
    """Python source that gives names their values, one to a line."""
    return "".join(f"{name} = {_literal(value)}\n" for name, value in values.items())


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"""', "'''")


def _literal(value: Any, width: int = 110) -> str:
    """A value as Python source, wrapped where it is long."""
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


def _needed(story: str) -> list[Definition]:
    """The definitions of the kit that a story uses, directly or not, in order.

    Raises:
        ValueError: the story redefines a name that one of them needs.
    """
    kit = _kit()
    tree = ast.parse(story)
    known = set(_bound(tree))
    shadowed: set[str] = set()
    found: dict[str, Definition] = {}
    queue = sorted(_used(tree) - known)
    while queue:
        name = queue.pop()
        if name in found or name not in kit:
            continue
        found[name] = kit[name]
        queue += sorted(kit[name].uses)
        shadowed |= kit[name].uses & known & set(kit)
    if shadowed:
        raise ValueError(f"The story gives names of the kit another meaning: {', '.join(sorted(shadowed))}")
    return sorted(found.values(), key=lambda one: one.place)


@cache
def _kit() -> dict[str, Definition]:
    """Every name of the kit.

    Raises:
        ValueError: a name is defined twice, other than by the same import.
    """
    names: dict[str, Definition] = {}
    for rank, path in enumerate(sorted(KIT.glob("*.py"), key=lambda path: (path.stem != "environment", path.stem))):
        for one in _definitions(path.read_text(encoding="utf-8"), rank):
            other = names.setdefault(one.name, one)
            if other.source != one.source:
                raise ValueError(f"The kit defines '{one.name}' twice: {path.name} has another one.")
    return names


def _definitions(text: str, rank: int) -> Iterator[Definition]:
    lines = text.splitlines()
    for node in ast.parse(text).body:
        place = (rank, node.lineno)
        if isinstance(node, ast.Import | ast.ImportFrom):
            if not (isinstance(node, ast.ImportFrom) and (node.module or "").startswith(("podium", "__future__"))):
                yield from _imports(node, place)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
            source = "\n".join(lines[first - 1 : node.end_lineno])
            yield Definition(node.name, source, frozenset(_used(node)), place)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            source = "\n".join(lines[node.lineno - 1 : node.end_lineno])
            yield Definition(node.targets[0].id, source, frozenset(_used(node)), place, is_constant=True)


def _imports(node: ast.Import | ast.ImportFrom, place: tuple[int, int]) -> Iterator[Definition]:
    for alias in node.names:
        single: ast.stmt = (
            ast.Import([alias]) if isinstance(node, ast.Import) else ast.ImportFrom(node.module, [alias], node.level)
        )
        name = alias.asname or alias.name.partition(".")[0]
        yield Definition(name, ast.unparse(single), frozenset(), place, is_import=True)


def _joined_imports(sources: set[str]) -> list[str]:
    """Import statements in order, one for all names of a module."""
    names: dict[str, list[str]] = {}
    for source in sorted(sources):
        start, _, name = source.partition(" import ")
        names.setdefault(start, []).extend([name] if name else [])
    joined = [f"{start} import {', '.join(listed)}" if listed else start for start, listed in names.items()]
    ordered = sorted(joined, key=_import_order)
    ours = [line for line in ordered if _import_order(line)[0]]
    return [*(line for line in ordered if line not in ours), *([""] if ours else []), *ours]


def _import_order(source: str) -> tuple[bool, bool, str]:
    module = source.split()[1]
    return (
        module.partition(".")[0] in {"numpy", "pandas", "scipy", "sklearn", "PIL", "threadpoolctl"},
        source.startswith("from"),
        module,
    )


def _used(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - set(dir(builtins))


def _bound(tree: ast.Module) -> Iterator[str]:
    """Names that a module's own lines give a meaning, not those inside of its functions."""
    inside = {id(part) for node in tree.body if isinstance(node, ast.FunctionDef) for part in ast.walk(node)}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
    for part in (part for part in ast.walk(tree) if id(part) not in inside):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            yield part.id
        elif isinstance(part, ast.Import | ast.ImportFrom):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in part.names)
