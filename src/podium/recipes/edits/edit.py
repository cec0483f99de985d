"""Edits of one file, and replacement of parts of a program."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Edit:
    """File of the program after one change."""

    file: str
    title: str
    """One-sentence description of the change, for `podium steps`."""
    source: str


@dataclass(frozen=True)
class Replacement:
    """Replacement text for a part of a program."""

    first: ast.stmt | ast.expr
    last: ast.stmt | ast.expr
    text: str


def replace(source: str, replacements: Iterable[Replacement]) -> str:
    """Replace parts of a program, which must not overlap."""
    data = source.encode()
    starts = [0]
    for line in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    places = []
    for each in replacements:
        begin = starts[each.first.lineno - 1] + each.first.col_offset
        assert each.last.end_lineno is not None
        assert each.last.end_col_offset is not None
        places.append((begin, starts[each.last.end_lineno - 1] + each.last.end_col_offset, each.text))
    for begin, end, text in sorted(places, reverse=True):
        data = data[:begin] + text.encode() + data[end:]
    return data.decode()


def parse(source: str) -> ast.Module | None:
    """Return the syntax tree of a program, or None if it is not valid Python."""
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError):
        return None


def with_imports(source: str, lines: Iterable[str]) -> str:
    """Add import lines to a program, below its docstring and its imports from __future__."""
    missing = [line for line in dict.fromkeys(lines) if line not in source.splitlines()]
    if not missing:
        return source
    tree, after = ast.parse(source), 0
    for statement in tree.body:
        is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        is_future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
        if not (is_text or is_future):
            break
        after = statement.end_lineno or 0
    kept = source.splitlines(keepends=True)
    return "".join([*kept[:after], *(["\n"] if after else []), *(f"{line}\n" for line in missing), *kept[after:]])


def called_name(call: ast.Call) -> str:
    """Return the last part of the name of the called function; empty if it has no name."""
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""
